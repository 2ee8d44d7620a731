package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const (
	chunkSize = 256 << 10 // of a chunk's buffer, which grows for a longer line
	inFlight  = 4         // chunks at the same time
)

// A chunk holds the lines that one read has completed.
type chunk struct {
	buf   []byte
	lines [][]byte // in buf, without their ends
	keys  [][]byte // of the lines
	yes   []bool   // answers, one per line
	out   []byte
}

// each reads the lines of all files, as many at a time as have arrived: a program further up the
// pipe need not fill a buffer. It calls work with each chunk of lines, and then print, in order.
// Reading, work and print run at the same time. print may be nil.
//
// The first error ends all three, but each prints the chunk for which work returned it, and the
// lines before a read error. With goOn, each reports an unreadable file, reads the next one, and
// returns errReported at the end.
func (o *options) each(files []string, shown *progress, goOn bool, work, print func(c *chunk) error) error {
	if len(o.keys) > 0 && len(files) > 0 {
		return fmt.Errorf("keys by -k and files (%s), want one or the other", files[0])
	}
	ctx, cancel := context.WithCancelCause(o.ctx)
	defer cancel(nil)
	s := &stream{options: o, ctx: ctx, shown: shown, goOn: goOn, free: make(chan *chunk, inFlight), full: make(chan *chunk, inFlight)}
	for range inFlight {
		s.free <- &chunk{buf: make([]byte, chunkSize)}
	}
	worked := make(chan *chunk, inFlight)
	var reading, working, printing error
	go func() {
		defer close(s.full)
		reading = s.readAll(files)
	}()
	go func() {
		defer close(worked)
		for c := range s.full {
			if working == nil {
				c.yes = slices.Grow(c.yes[:0], len(c.lines))[:len(c.lines)]
				if working = work(c); working != nil {
					cancel(working)
				}
				worked <- c
			}
		}
	}()
	for c := range worked {
		if print != nil && printing == nil {
			if printing = print(c); printing != nil {
				cancel(printing)
			}
		}
		s.free <- c
	}
	return cmp.Or(printing, working, reading)
}

// printer returns a function that prints the lines with one of the answers.
func (o *options) printer(answer bool) func(c *chunk) error {
	return func(c *chunk) error {
		c.out = c.out[:0]
		for i, line := range c.lines {
			if c.yes[i] == answer {
				c.out = append(append(c.out, line...), o.end())
			}
		}
		if len(c.out) == 0 {
			return nil
		}
		_, err := o.stdout.Write(c.out)
		return err
	}
}

// end returns the byte that ends a line.
func (o *options) end() byte {
	if o.null {
		return 0
	}
	return '\n'
}

// A stream divides inputs into chunks of lines.
type stream struct {
	*options
	ctx        context.Context
	shown      *progress
	goOn       bool
	free, full chan *chunk

	c    *chunk // with the line that is incomplete
	have int    // bytes of that line
}

func (s *stream) readAll(files []string) error {
	if len(s.keys) > 0 {
		return s.split(strings.NewReader(strings.Join(s.keys, "\x00")+"\x00"), 0) // an argument has no NUL
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	var reported error
	for _, name := range files {
		err := s.readOne(name)
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		if err != nil && !s.goOn {
			return err
		}
		if err != nil {
			s.shown.report(err)
			reported = errReported
		}
	}
	return reported
}

func (s *stream) readOne(name string) error {
	raw := s.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close() // it was only read
		raw = file
	}
	r, err := unpack(source{s.ctx, raw, s.shown})
	if err == nil {
		defer r.Close()
		err = s.split(r, s.end())
	}
	return errorIn(name, err)
}

// take makes a free chunk the current one. It begins with rest.
func (s *stream) take(rest []byte) error {
	select {
	case s.c = <-s.free:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	if s.have = len(rest); s.have > len(s.c.buf) {
		s.c.buf = make([]byte, 2*s.have)
	}
	copy(s.c.buf, rest)
	return nil
}

// split sends the lines of r. It drops a line that an error cuts off.
func (s *stream) split(r io.Reader, end byte) (err error) {
	if s.c == nil {
		err = s.take(nil)
	}
	for s.have = 0; err == nil; {
		c := s.c
		if s.have == len(c.buf) {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
		var n int
		n, err = r.Read(c.buf[s.have:])
		whole := bytes.LastIndexByte(c.buf[s.have:s.have+n], end) + 1
		if whole > 0 {
			whole += s.have
		}
		if s.have += n; err == io.EOF {
			whole = s.have
		}
		if whole == 0 {
			continue
		}
		if failed := s.take(c.buf[whole:s.have]); failed != nil {
			return failed
		}
		c.cut(whole, end)
		c.keys = s.keysOf(c.keys[:0], c.lines)
		s.full <- c
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// cut sets lines to those of the first bytes of buf.
func (c *chunk) cut(length int, end byte) {
	c.lines = c.lines[:0]
	for text := c.buf[:length]; len(text) > 0; {
		i := bytes.IndexByte(text, end)
		if i < 0 { // the last line of an input
			c.lines = append(c.lines, text)
			return
		}
		c.lines = append(c.lines, text[:i])
		text = text[i+1:]
	}
}

// keysOf returns the keys of lines, in the memory of keys or of lines.
func (o *options) keysOf(keys, lines [][]byte) [][]byte {
	if o.field == 0 || len(o.keys) > 0 {
		return lines
	}
	for _, line := range lines {
		keys = append(keys, o.fieldOf(line))
	}
	return keys
}

// fieldOf returns the field of a line that --field and --delimiter name.
func (o *options) fieldOf(line []byte) []byte {
	n := int(o.field)
	if o.delimiter == "" {
		for key := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == '\t' }) {
			if n--; n == 0 {
				return key
			}
		}
		return nil
	}
	for key := range bytes.SplitSeq(line, []byte(o.delimiter)) {
		if n--; n == 0 {
			return key
		}
	}
	return nil
}
