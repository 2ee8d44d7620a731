package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seed3447c163/bloom"
)

// A format is a way to write a filter down.
type format struct {
	name  string
	about string
	// is reports whether a file that begins with head and has size bytes, -1 if unknown, is one.
	is    func(head []byte, size int64) bool
	read  func(r io.Reader, opts []bloom.Option) (*bloom.BloomFilter, error)
	write func(f *bloom.BloomFilter) io.WriterTo
}

// formats are tried in this order: those that say what they are come first.
var formats = []format{native, text}

var native = format{
	name:  "bloom",
	about: "this program's own",
	is:    func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloom\n")) },
	read:  func(r io.Reader, opts []bloom.Option) (*bloom.BloomFilter, error) { return bloom.Read(r, opts...) },
	write: func(f *bloom.BloomFilter) io.WriterTo { return f },
}

var text = format{
	name:  "text",
	about: "the same in base64, for JSON and mail",
	is:    func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("iWJsb29tCg")) },
	read: func(r io.Reader, opts []bloom.Option) (*bloom.BloomFilter, error) {
		decoded := newBase64Reader(r)
		f, err := bloom.Read(decoded, opts...)
		if err != nil {
			return nil, err
		}
		if n, err := io.Copy(io.Discard, decoded); n > 0 || err != nil {
			return nil, fmt.Errorf("%d more bytes behind the filter's end, want none: %w", n, err)
		}
		return f, nil
	},
	write: func(f *bloom.BloomFilter) io.WriterTo { return base64Writer{f} },
}

func formatNames() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// load reads the filter in a file, "-" for standard input, whatever its format.
func load(e *env, path string, opts []bloom.Option) (*bloom.BloomFilter, *format, error) {
	r, size := e.stdin, int64(-1)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close() // it was only read: closing cannot lose anything
		info, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		r = file
	}
	b := bufio.NewReaderSize(r, bufferSize)
	head, err := b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range formats {
		if !formats[i].is(head, size) {
			continue
		}
		f, err := formats[i].read(b, opts)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, hint(err))
		}
		if _, err := b.ReadByte(); err != io.EOF {
			return nil, nil, fmt.Errorf("%s: more bytes behind the filter's end, want none", path)
		}
		return f, &formats[i], nil
	}
	return nil, nil, fmt.Errorf("%s: not a filter in any format that is known", path)
}

// hint adds what to do about an error, where that can be told.
func hint(err error) error {
	if errors.Is(err, bloom.ErrIncompatible) {
		return fmt.Errorf("%w (see bloom help secrets)", err)
	}
	return err
}

// checkNew refuses to write over a file that exists, unless that is wanted.
func checkNew(path string, force bool) error {
	if force {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists, want a new name, or --force to replace it", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
