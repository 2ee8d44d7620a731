// Package frametest damages encoded filters in every way that is tried of package bloom's
// own format too.
package frametest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
)

var write = flag.Bool("write-goldens", false, "write golden files that are not there yet")

// Golden returns a golden file, which must have the given bytes. It is never written
// again: who changes the format keeps the old one readable.
func Golden(t *testing.T, path string, want []byte) []byte {
	t.Helper()
	got, err := os.ReadFile(path)
	if *write && errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return want
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s has %d bytes that differ from the %d of today", path, len(got), len(want))
	}
	return got
}

// Damage cuts data off at every length, flips every single bit and puts bytes after its
// end. None of it may be read without an error of this module; read must not look beyond
// the end.
func Damage(t *testing.T, data []byte, read func(io.Reader) error) {
	t.Helper()
	if err := read(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("nothing at all: %v, want io.EOF", err)
	}
	cuts, flips := 0, 0
	for n := 1; n < len(data); n++ {
		err := read(bytes.NewReader(data[:n]))
		if !errors.Is(err, bloom.ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		cuts++
	}
	damaged := bytes.Clone(data)
	for i := range len(data) * 8 {
		damaged[i/8] ^= 1 << (i % 8)
		err := read(bytes.NewReader(damaged))
		if !errors.Is(err, bloom.ErrCorrupt) && !errors.Is(err, bloom.ErrIncompatible) && !errors.Is(err, bloom.ErrTooLarge) {
			t.Fatalf("bit %d of byte %d flipped: %v", i%8, i/8, err)
		}
		damaged[i/8] ^= 1 << (i % 8)
		flips++
	}
	for n := range len(data) {
		if err := read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(errBroken))); !errors.Is(err, errBroken) {
			t.Fatalf("a reader that fails after %d bytes: %v, want its error", n, err)
		}
	}
	more := bytes.NewReader(append(bytes.Clone(data), "more"...))
	if err := read(more); err != nil || more.Len() != 4 {
		t.Errorf("with more behind it: %v, %d bytes left, want 4", err, more.Len())
	}
	t.Logf("%d cuts and %d flips, none accepted", cuts, flips)
}

// Failing writes half at every single write, one after the other, with an error or without:
// each must come back.
func Failing(t *testing.T, write func(io.Writer) (int64, error)) {
	t.Helper()
	var whole bytes.Buffer
	n, err := write(&whole)
	if err != nil || n != int64(whole.Len()) {
		t.Fatalf("%d bytes written, %d reported, %v", whole.Len(), n, err)
	}
	for _, c := range []struct{ err, want error }{{errBroken, errBroken}, {nil, io.ErrShortWrite}} {
		for fail := 0; ; fail++ {
			w := &failing{left: fail, err: c.err}
			n, err := write(w)
			if n != w.n {
				t.Fatalf("%d bytes written, %d reported", w.n, n)
			}
			if !w.failed {
				break
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("write %d: %v, want %v", fail, err, c.want)
			}
		}
	}
}

var errBroken = errors.New("broken")

type failing struct {
	left   int
	err    error
	failed bool
	n      int64
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left == 0 {
		f.failed = true
		f.n += int64(len(p) / 2)
		return len(p) / 2, f.err
	}
	f.left--
	f.n += int64(len(p))
	return len(p), nil
}

// A BusyWriter has something else done before its first byte.
type BusyWriter struct {
	bytes.Buffer
	Meanwhile func()
}

func (w *BusyWriter) Write(p []byte) (int, error) {
	if w.Meanwhile != nil {
		w.Meanwhile()
		w.Meanwhile = nil
	}
	return w.Buffer.Write(p)
}
