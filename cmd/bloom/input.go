package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
)

// An input is where a command's keys come from.
type input struct {
	env  *env
	null bool
	keys []string // on the command line, in place of files
	goOn bool     // past an input that cannot be read
}

func (in *input) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&in.null, "null", "0", false, "keys end in NUL, not newline")
}

// fromStdin reports whether keys are read from standard input.
func (in *input) fromStdin(files []string) bool {
	return len(in.keys) == 0 && (len(files) == 0 || slices.Contains(files, "-"))
}

func (in *input) delim() byte {
	if in.null {
		return 0
	}
	return '\n'
}

// bufferSize is that of the input buffer. It grows for a key that does not fit.
const bufferSize = 256 << 10

// each calls do with the keys of all files, as many at once as are there: a program
// further up the pipe does not have to fill a buffer before its keys are handled. The
// slices are valid during the call. If it goes on past an input that cannot be read, it says
// so at once and returns errSaid in the end; an error of do ends it in any case.
func (in *input) each(files []string, shown *progress, do func(keys [][]byte) error) error {
	if len(in.keys) > 0 {
		if err := in.checkKeys(files); err != nil {
			return err
		}
		keys := make([][]byte, len(in.keys))
		for i, key := range in.keys {
			keys[i] = []byte(key)
		}
		return do(keys)
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	var said error
	for _, name := range files {
		err := in.eachOf(name, shown, do)
		if in.goOn && errors.As(err, new(readError)) {
			shown.say(in.env.stderr, message(err))
			said = errSaid
		} else if err != nil {
			return err
		}
	}
	return said
}

// checkKeys refuses keys on the command line together with files.
func (in *input) checkKeys(files []string) error {
	if len(in.keys) > 0 && len(files) > 0 {
		return fmt.Errorf("keys by -k and inputs (%s), want one or the other", shown(files[0]))
	}
	return nil
}

func (in *input) eachOf(name string, bar *progress, do func(keys [][]byte) error) error {
	raw := in.env.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return readError{err}
		}
		defer file.Close() // it was only read: closing cannot lose anything
		raw = file
	} else {
		name = "standard input"
	}
	r, err := unpack(counted{raw, bar})
	if err != nil {
		return readError{errorIn{shown(name), err}}
	}
	defer r.Close()
	err = split(r, in.delim(), do)
	if errors.As(err, new(readError)) {
		return errorIn{shown(name), err}
	}
	return err
}

// A counted reader tells the display how far it has come.
type counted struct {
	io.Reader
	shown *progress
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.shown.read(n)
	return n, err
}

// unpack returns the contents of r if it is compressed, or else r itself. It never
// waits for more bytes than it needs to know: a line from a terminal is one at once.
func unpack(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, bufferSize)
	starts := func(magic ...byte) bool {
		for n := range magic {
			if head, _ := b.Peek(n + 1); !bytes.Equal(head, magic[:n+1]) {
				return false
			}
		}
		return true
	}
	switch {
	case starts(0x1f, 0x8b):
		return gzip.NewReader(b)
	case starts(0x28, 0xb5, 0x2f, 0xfd):
		z, err := zstd.NewReader(b)
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}

// A readError is an error of an input, not of what is done with its keys.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// split calls do with the keys of r, those that have arrived at once. A key that is
// cut short by an error is no key.
func split(r io.Reader, delim byte, do func(keys [][]byte) error) error {
	buf, have := make([]byte, bufferSize), 0
	var keys [][]byte
	for {
		n, err := r.Read(buf[have:])
		searched := have
		have += n
		keys = keys[:0]
		start := 0
		for {
			i := bytes.IndexByte(buf[max(start, searched):have], delim)
			if i < 0 {
				break
			}
			end := max(start, searched) + i
			keys = append(keys, buf[start:end])
			start = end + 1
		}
		if err == io.EOF && start < have {
			keys = append(keys, buf[start:have])
		}
		if len(keys) > 0 {
			if err := do(keys); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError{err}
		}
		if start > 0 { // not at each piece of a long key
			have = copy(buf, buf[start:have])
		}
		if have == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

func (in *input) keyFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&in.keys, "key", "k", nil, "take this `key`, not files or standard input; can be repeated")
}
