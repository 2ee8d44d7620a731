// Package lines reads keys: the lines of files, or fields of them, in chunks.
package lines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
)

const (
	chunkSize = 256 << 10 // size of a chunk's buffer; it grows for a longer line
	inFlight  = 4         // number of chunks in use at once
)

// An Input is a source of keys.
type Input struct {
	Form
	Context context.Context
	Keys    []string // keys of the command line, instead of Files
	Files   []string // read in order; "-", or none, is Stdin
	Stdin   io.Reader
	Read    *atomic.Int64     // counts the bytes read, before unpacking; may be nil
	Warn    func(text string) // called once with each different warning; may be nil
	Settle  func()            // called at the end of input from a pipe; waits for signals that end Context

	// A line without the field has no key. Missing counts such lines. Their answer in Chunk.Yes is Keyless.
	Keyless bool
	Missing int

	// When Timer has fired, OnTimer is called between two chunks. Its error ends the reading.
	Timer   <-chan time.Time
	OnTimer func() error

	// If Room is not nil, it is called before each call of print, and its error ends the reading. print then gets at
	// most PieceSize bytes, or one line.
	Room      func() error
	PieceSize int

	warned map[string]bool // texts of the warnings so far
}

// A Chunk has the complete lines of one read.
type Chunk struct {
	Lines [][]byte // without their ends
	Keys  [][]byte // one per line, nil for a line without the field
	Yes   []bool   // the answers of work, one per line

	name  string // of the input, "" for the command line
	first int    // number of the first line in the input
	block []byte // the lines with their ends
	buf   []byte
	out   []byte
}

// Selected returns the lines whose Yes is answer, each followed by end. The next call on the chunk overwrites the
// result.
func (c *Chunk) Selected(answer bool, end byte) []byte {
	c.out = c.out[:0]
	for i, line := range c.Lines {
		if c.Yes[i] == answer {
			c.out = append(append(c.out, line...), end)
		}
	}
	return c.out
}

// Each reads the lines in chunks. A chunk has the lines that have arrived, so that Each does not wait for a full
// buffer. Each calls work with the lines of a chunk that have a key, and then print, in order, while it reads the next
// chunk. print may be nil.
//
// work gets consecutive lines, sets their answers in Yes, and returns the number of lines that it has answered. If it
// has not answered all, its error is about the next line, and Each adds this line's number.
//
// The first error ends the reading, after the lines before it are printed. If no line has the field of the key, Each
// returns an error at the end.
func (in *Input) Each(work func(c *Chunk) (int, error), print func(c *Chunk) error) error {
	switch {
	case len(in.Keys) > 0 && len(in.Files) > 0:
		return fmt.Errorf("keys by -k and files (%s), want one or the other", in.Files[0])
	case in.Delimiter != "" && in.Field == 0:
		return errors.New("--delimiter without --field")
	}
	ctx, cancel := context.WithCancelCause(in.Context)
	defer cancel(nil)
	s := &stream{Input: in, ctx: ctx, free: make(chan *Chunk, inFlight), full: make(chan *Chunk, inFlight)}
	in.Missing, in.warned = 0, map[string]bool{}
	for range inFlight {
		s.free <- &Chunk{buf: make([]byte, chunkSize)}
	}
	var reading, working error
	answered := 0
	go func() {
		defer close(s.full)
		reading = s.readAll()
	}()
	for {
		now := error(nil)
		select {
		case c, more := <-s.full:
			switch {
			case !more:
				if err := cmp.Or(working, reading); err != nil {
					return err
				}
				return in.missed(answered)
			case working == nil:
				now = in.answer(c, work, print)
				answered += len(c.Lines)
			}
			s.free <- c
		case <-in.Timer:
			if working == nil {
				now = in.OnTimer()
			}
		}
		if now != nil {
			working = now
			cancel(now)
		}
	}
}

// answer calls the function work with each piece of a chunk, and then the function print with the lines that work has
// answered. Without in.Room, the whole chunk is one piece.
func (in *Input) answer(c *Chunk, work func(c *Chunk) (int, error), print func(c *Chunk) error) (err error) {
	for _, text := range in.doubts(c) {
		if !in.warned[text] && len(in.Keys) == 0 {
			in.warned[text] = true
			in.warn("%s: %s", display(c.name), text)
		}
	}
	c.Yes = slices.Grow(c.Yes[:0], len(c.Lines))[:len(c.Lines)]
	piece := *c
	for at, end := 0, len(c.Lines); err == nil && at < len(c.Lines); at = end {
		if in.Room != nil && print != nil {
			if err := in.Room(); err != nil {
				return err
			}
			size := len(c.Lines[at]) + 1
			for end = at + 1; end < len(c.Lines) && size+len(c.Lines[end]) < in.PieceSize; end++ {
				size += len(c.Lines[end]) + 1
			}
		}
		piece.Lines, piece.Keys, piece.Yes, piece.first = c.Lines[at:end], c.Keys[at:end], c.Yes[at:end], c.first+at
		err = in.answerPiece(&piece, work)
		if print != nil {
			err = cmp.Or(print(&piece), err)
		}
	}
	c.out = piece.out
	return err
}

// answerPiece calls work with the lines that have a key. After an error, it cuts c.Lines off behind the answered lines.
func (in *Input) answerPiece(c *Chunk, work func(c *Chunk) (int, error)) (err error) {
	done, part := 0, &Chunk{}
	for err == nil && done < len(c.Lines) {
		if c.Keys[done] == nil {
			if in.Missing++; in.Missing == 1 {
				in.warn("%s: line %d: no %s, so no key", display(c.name), c.first+done, in.field())
			}
			c.Yes[done] = in.Keyless
			done++
			continue
		}
		end := done + 1
		for end < len(c.Lines) && c.Keys[end] != nil {
			end++
		}
		part.Lines, part.Keys, part.Yes = c.Lines[done:end], c.Keys[done:end], c.Yes[done:end]
		var n int
		n, err = work(part)
		done += n
	}
	if err != nil && done < len(c.Lines) && len(in.Keys) == 0 {
		err = Named(c.name, At(fmt.Sprintf("line %d", c.first+done), err))
	}
	c.Lines = c.Lines[:done]
	return err
}

// missed warns if lines have no key, and returns an error if no line has one. answered is the number of all lines.
func (in *Input) missed(answered int) error {
	switch {
	case in.Missing > 0 && in.Missing == answered:
		return fmt.Errorf("no line has %s, want another -f or -d", in.field())
	case in.Missing > 1:
		in.warn("%s of %s lines have no %s", humanize.Comma(int64(in.Missing)), humanize.Comma(int64(answered)), in.field())
	}
	return nil
}

func (in *Input) warn(format string, args ...any) {
	if in.Warn != nil {
		in.Warn(fmt.Sprintf(format, args...))
	}
}

// A stream divides an input into chunks of lines.
type stream struct {
	*Input
	ctx        context.Context
	free, full chan *Chunk

	c    *Chunk // the chunk to read into
	have int    // bytes in c.buf: an incomplete line
	line int    // number of this line in its file
	pipe bool   // whether an input was a pipe

	passed       int  // bytes of the file's first lines that noText has tested, up to 4 KiB
	nul, foreign bool // whether these lines have NUL bytes, and bytes that are not UTF-8
}

func (s *stream) readAll() (err error) {
	if len(s.Keys) > 0 {
		return s.split("", strings.NewReader(strings.Join(s.Keys, "\x00")+"\x00"), Form{}) // an argument has no NUL
	}
	files := s.Files
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		if err = s.readOne(name); err != nil || s.ctx.Err() != nil {
			break
		}
	}
	if s.pipe && s.Settle != nil {
		s.Settle()
	}
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return err
}

func (s *stream) readOne(name string) error {
	raw := s.Stdin
	if name != "-" {
		file, err := Open(s.ctx, name)
		if err != nil {
			return err
		}
		defer file.Close() // ignore the error: the file was only read
		raw = file
	}
	s.pipe = s.pipe || IsPipe(raw)
	r, err := unpack(Until(s.ctx, raw, s.Read))
	if err == nil {
		defer r.Close()
		err = s.split(name, r, s.Form)
	}
	return Named(name, err)
}

// take makes a free chunk the one to read into, and copies rest, an incomplete line, into it.
func (s *stream) take(rest []byte) error {
	select {
	case s.c = <-s.free:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	if s.have = len(rest); s.have > len(s.c.buf) {
		s.c.buf = make([]byte, 2*s.have)
	} else if s.have < chunkSize && len(s.c.buf) > chunkSize {
		s.c.buf, s.c.out = make([]byte, chunkSize), nil // frees the memory of a long line
	}
	copy(s.c.buf, rest)
	return nil
}

// split reads r and sends its lines in chunks. If reading fails within a line, split drops the line, and the error has
// its number.
func (s *stream) split(name string, r io.Reader, form Form) (err error) {
	if s.c == nil {
		if err := s.take(nil); err != nil {
			return err
		}
	}
	s.have, s.line, s.passed, s.nul, s.foreign = 0, 1, 0, false, false
	for err == nil {
		c := s.c
		if s.have == len(c.buf) {
			c.buf = append(c.buf, make([]byte, min(len(c.buf), form.limit()+1-s.have))...)
		}
		var n int
		n, err = r.Read(c.buf[s.have:])
		whole := bytes.LastIndexByte(c.buf[s.have:s.have+n], form.End) + 1
		if whole > 0 {
			whole += s.have
		}
		if s.have += n; err == io.EOF || whole == 0 && s.have > form.limit() {
			whole = s.have
		}
		if whole == 0 {
			continue
		}
		if err := s.send(name, c, whole, form); err != nil {
			return err
		}
	}
	if err == io.EOF {
		return nil
	}
	if inPath := (*fs.PathError)(nil); errors.As(err, &inPath) {
		err = inPath.Err // without the name: readOne adds it
	}
	return At(fmt.Sprintf("line %d", s.line), err)
}

// send sends c with the complete lines in c.buf[:whole]. If a line is too long, it sends the lines before it and
// returns an error.
func (s *stream) send(name string, c *Chunk, whole int, form Form) (err error) {
	block, end := c.buf[:whole], []byte{form.End}
	c.Lines = slices.AppendSeq(c.Lines[:0], bytes.SplitSeq(bytes.TrimSuffix(block, end), end))
	c.name, c.first, c.block = name, s.line, block
	if form.End != 0 {
		if err := s.noText(c); err != nil {
			return err
		}
	}
	if whole > form.limit() {
		if i := slices.IndexFunc(c.Lines, func(line []byte) bool { return len(line) > form.limit() }); i >= 0 {
			err = fmt.Errorf("longer than %s, want shorter lines or a larger --max-line", humanize.IBytes(form.MaxLine))
			c.Lines, err = c.Lines[:i], At(fmt.Sprintf("line %d", c.first+i), err)
		}
	}
	if failed := s.take(c.buf[whole:s.have]); failed != nil {
		return failed
	}
	s.line += len(c.Lines)
	c.Keys = form.keys(c.Keys[:0], c.Lines)
	s.full <- c
	return err
}
