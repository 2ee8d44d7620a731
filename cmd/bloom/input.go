package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
)

// An input is the source of a command's lines and their keys.
type input struct {
	env       *env
	null      bool
	field     int
	delimiter string
	keys      []string // of -k, instead of files
	goOn      bool     // after an input that cannot be read
}

func (in *input) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&in.null, "null", "0", false, "lines end in NUL instead of newline")
	cmd.Flags().VarP((*fieldFlag)(&in.field), "field", "f", "take field `N` of each line as its key")
	cmd.Flags().StringVarP(&in.delimiter, "delimiter", "d", "", "`CHAR` between fields, default blanks")
}

func (in *input) keyFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&in.keys, "key", "k", nil, "take `KEY`, not files; may be repeated")
}

// A fieldFlag is a flag for the number of a field.
type fieldFlag int

func (f *fieldFlag) String() string { return "" }
func (f *fieldFlag) Type() string   { return "N" }

func (f *fieldFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want a number from 1")
	}
	*f = fieldFlag(n)
	return nil
}

// check refuses flags that contradict each other, before any work.
func (in *input) check(files []string) error {
	switch {
	case len(in.keys) > 0 && len(files) > 0:
		return fmt.Errorf("keys by -k and files (%s), want one or the other", shown(files[0]))
	case len(in.delimiter) > 1:
		return fmt.Errorf("--delimiter %q, want one byte", in.delimiter)
	case in.delimiter != "" && in.field == 0:
		return errors.New("--delimiter without --field")
	}
	return nil
}

// keyOf returns the key of a line.
func (in *input) keyOf(line []byte) []byte {
	if in.field == 0 || len(in.keys) > 0 {
		return line
	}
	if in.delimiter != "" {
		for range in.field - 1 {
			_, rest, found := bytes.Cut(line, []byte(in.delimiter))
			if !found {
				return nil
			}
			line = rest
		}
		key, _, _ := bytes.Cut(line, []byte(in.delimiter))
		return key
	}
	for n := 1; ; n++ {
		line = bytes.TrimLeft(line, " \t")
		end := bytes.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if n == in.field {
			return line[:end]
		}
		if line = line[end:]; len(line) == 0 {
			return nil
		}
	}
}

// keysOf appends the keys of the lines to keys.
func (in *input) keysOf(keys, lines [][]byte) [][]byte {
	for _, line := range lines {
		keys = append(keys, in.keyOf(line))
	}
	return keys
}

// fromStdin reports whether standard input is read.
func (in *input) fromStdin(files []string) bool {
	return len(in.keys) == 0 && (len(files) == 0 || slices.Contains(files, "-"))
}

// end ends a line.
func (in *input) end() byte {
	if in.null {
		return 0
	}
	return '\n'
}

// bufferSize is the initial size of the input buffer, which grows for a longer line.
const bufferSize = 256 << 10

// each calls do with the lines of all files, as many as have arrived: a program further up the
// pipe need not fill a buffer. The slices are valid during the call. With goOn, each reports an
// unreadable input at once and returns errSaid at the end.
func (in *input) each(files []string, shown *progress, do func(lines [][]byte) error) error {
	if len(in.keys) > 0 {
		var lines [][]byte
		for _, key := range in.keys {
			lines = append(lines, []byte(key))
		}
		return do(lines)
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	var said error
	for _, name := range files {
		err := in.eachOf(name, shown, do)
		if _, unreadable := errors.AsType[readError](err); unreadable && in.goOn && in.env.ctx.Err() == nil {
			shown.say(in.env.stderr, message(err))
			said = errSaid
		} else if err != nil {
			return err
		}
	}
	return said
}

func (in *input) eachOf(name string, bar *progress, do func(lines [][]byte) error) error {
	raw := in.env.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return readError{err}
		}
		defer file.Close() // it was only read
		raw = file
	} else {
		name = "standard input"
	}
	r, err := unpack(source{in.env.ctx, raw, bar})
	if err != nil {
		return errorIn{shown(name), readError{err}}
	}
	defer r.Close()
	err = split(r, in.end(), do)
	if _, unreadable := errors.AsType[readError](err); unreadable && in.env.ctx.Err() == nil {
		return errorIn{shown(name), err}
	}
	return err
}

// A source reads until its context ends, and counts the bytes.
type source struct {
	ctx   context.Context
	r     io.Reader
	shown *progress
}

// Read leaves a pending read behind when the context ends: its caller must not use p then.
func (s source) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := s.r.Read(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		s.shown.read(r.n)
		return r.n, r.err
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	}
}

// packers are recognised by the first bytes of their files. Without open, the input is refused.
var packers = []struct {
	name, magic, tool string
	open              func(r io.Reader) (io.ReadCloser, error)
}{
	{"gzip", "\x1f\x8b", "", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", "", func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r)
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
	{"xz", "\xfd7zXZ\x00", "xz -dc", nil},
	{"bzip2", "BZh?1AY&SY", "bzip2 -dc", nil},
	{"lz4", "\x04\x22\x4d\x18", "lz4 -dc", nil},
	{"zip", "PK\x03\x04", "unzip -p", nil},
}

// unpack returns the contents of r. It peeks at no more bytes than it needs to tell: a short line
// from a terminal or a pipe is read at once.
func unpack(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, bufferSize)
	for _, p := range packers {
		for n := range p.magic {
			if head, _ := b.Peek(n + 1); len(head) <= n || head[n] != p.magic[n] && p.magic[n] != '?' {
				break
			} else if n < len(p.magic)-1 {
				continue
			}
			if p.open == nil {
				return nil, fmt.Errorf("packed by %s, want text, gzip or zstd: unpack it with %s and a pipe", p.name, p.tool)
			}
			return p.open(b)
		}
	}
	return io.NopCloser(b), nil
}

// A readError is an error of an input.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// split calls do with the lines of r, as many as have arrived. A line that an error cuts off is
// dropped.
func split(r io.Reader, end byte, do func(lines [][]byte) error) error {
	buf, have := make([]byte, bufferSize), 0
	var lines [][]byte
	for {
		n, err := r.Read(buf[have:])
		searched := have
		have += n
		lines = lines[:0]
		start := 0
		for {
			i := bytes.IndexByte(buf[max(start, searched):have], end)
			if i < 0 {
				break
			}
			at := max(start, searched) + i
			lines = append(lines, buf[start:at])
			start = at + 1
		}
		if err == io.EOF && start < have {
			lines = append(lines, buf[start:have])
		}
		if len(lines) > 0 {
			if err := do(lines); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError{err}
		}
		if start > 0 { // not at each piece of a long line
			have = copy(buf, buf[start:have])
		}
		if have == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// countInto sets n to the number of keys.
func (in *input) countInto(n *count, files []string) error {
	const want = "how many keys will there be? Want -n"
	if len(in.keys) > 0 {
		*n = count(len(in.keys))
		return nil
	}
	if in.fromStdin(files) {
		return errors.New(want + ": standard input cannot be read twice to count them")
	}
	for _, name := range files { // before a pipe is opened, which would wait
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return fmt.Errorf("%s is a folder, want a file of keys", shown(name))
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: %s: pipes and devices cannot be read twice to count them", shown(name), want)
		}
	}
	bar := newProgress(in.env, "counted", files, false)
	defer bar.stop()
	err := in.each(files, bar, func(lines [][]byte) error {
		bar.count(len(lines), len(lines))
		return nil
	})
	if *n = count(bar.keys.Load()); err == nil && *n == 0 {
		return fmt.Errorf("no keys in %s: %s", strings.Join(files, ", "), want)
	}
	return err
}
