package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

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
		s.shown.bytes.Add(int64(r.n))
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
	{"zstd", "\x28\xb5\x2f\xfd", "", openZstd},
	{"pzstd", "P*M\x18", "", openZstd}, // begins with a frame to be skipped
	{"xz", "\xfd7zXZ\x00", "xz -dc", nil},
	{"bzip2", "BZh?1AY&SY", "bzip2 -dc", nil},
	{"lz4", "\x04\x22\x4d\x18", "lz4 -dc", nil},
	{"zip", "PK\x03\x04", "unzip -p", nil},
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r)
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// unpack returns the contents of r. It peeks at no more bytes than it needs to tell: a short line
// from a terminal or a pipe is read at once.
func unpack(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, chunkSize)
	for _, p := range packers {
		same := true
		for n := 0; same && n < len(p.magic); n++ {
			head, _ := b.Peek(n + 1)
			same = len(head) > n && (head[n] == p.magic[n] || p.magic[n] == '?')
		}
		if same && p.open == nil {
			return nil, fmt.Errorf("packed by %s, want text, gzip or zstd: unpack it with %s and a pipe", p.name, p.tool)
		} else if same {
			return p.open(b)
		}
	}
	return io.NopCloser(b), nil
}

// errorIn adds a file's name to an error without it.
func errorIn(name string, err error) error {
	if _, named := errors.AsType[*fs.PathError](err); err == nil || named {
		return err
	}
	if name == "-" {
		name = "standard input"
	}
	return fmt.Errorf("%s: %w", name, err)
}

// fromStdin reports whether standard input is read.
func (o *options) fromStdin(files []string) bool {
	return len(o.keys) == 0 && (len(files) == 0 || slices.Contains(files, "-"))
}

// countKeys sets the planned number to that of the keys. It reads the files, which are read again.
func (o *options) countKeys(files []string) error {
	const want = "how many keys will there be? Want -n: "
	if len(o.keys) > 0 {
		o.n = number(len(o.keys))
		return nil
	}
	if o.fromStdin(files) {
		return errors.New(want + "standard input cannot be read twice to count them")
	}
	for _, name := range files { // before a pipe is opened, which would wait
		if info, err := os.Stat(name); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return fmt.Errorf("%s%s cannot be read twice to count them", want, name)
		}
	}
	shown := o.progress("counted", false)
	defer shown.stop()
	err := o.each(files, shown, false, func(c *chunk) error {
		shown.add(len(c.lines), len(c.lines))
		return nil
	}, nil)
	if o.n = number(shown.lines.Load()); err == nil && o.n == 0 {
		return errors.New(want + "the files are empty")
	}
	return err
}
