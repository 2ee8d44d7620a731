// Package frame reads and writes what the files of filters made of several filters
// have around those: numbers with a checksum.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/seed3447c163/bloom"
)

const checksumBytes = 4

// A Writer writes to another one, and counts. After an error it does nothing more.
// What comes before a filter waits for that: a filter that refuses to be written, because
// it is not portable, leaves nothing behind.
type Writer struct {
	w       io.Writer
	n       int64
	err     error
	sum     uint32
	pending []byte
}

func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Magic writes the bytes by which a format is known.
func (w *Writer) Magic(magic string) { w.pending = append(w.pending, magic...) }

// Numbers writes numbers, little-endian, and the CRC-32 of these and of all numbers
// before them.
func (w *Writer) Numbers(numbers ...uint64) {
	start := len(w.pending)
	for _, x := range numbers {
		w.pending = binary.LittleEndian.AppendUint64(w.pending, x)
	}
	w.sum = crc32.Update(w.sum, crc32.IEEETable, w.pending[start:])
	w.pending = binary.LittleEndian.AppendUint32(w.pending, w.sum)
}

// Filter writes a filter.
func (w *Writer) Filter(f *bloom.BloomFilter) {
	if w.err == nil {
		_, w.err = f.WriteTo((*through)(w))
	}
}

// Result writes what is left and returns what WriteTo returns.
func (w *Writer) Result() (int64, error) {
	if w.err == nil {
		w.err = (*through)(w).flush()
	}
	return w.n, w.err
}

// through is the Writer as the filters see it.
type through Writer

func (w *through) Write(p []byte) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	if err := w.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *through) flush() error {
	err := w.write(w.pending)
	w.pending = w.pending[:0]
	return err
}

func (w *through) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n, err := w.w.Write(p)
	w.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// A Reader reads what a Writer has written.
type Reader struct {
	r     io.Reader
	began bool
	sum   uint32
}

func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Magic reads the bytes by which a format is known; the last of them is its version.
// It returns io.EOF at the end of the stream.
func (r *Reader) Magic(magic string) error {
	got := make([]byte, len(magic))
	if err := r.full(got, "the header"); err != nil {
		return err
	}
	last := len(magic) - 1
	switch {
	case string(got) == magic:
		return nil
	case string(got[:last]) == magic[:last]:
		return fmt.Errorf("%w: the data has format version %d, want %d", bloom.ErrIncompatible, got[last], magic[last])
	}
	return fmt.Errorf("%w: it begins with %q, want %q", bloom.ErrCorrupt, got, magic)
}

// Numbers reads numbers into those that it is given.
func (r *Reader) Numbers(what string, numbers ...*uint64) error {
	buf := make([]byte, len(numbers)*8+checksumBytes)
	if err := r.full(buf, what); err != nil {
		return err
	}
	end := len(numbers) * 8
	r.sum = crc32.Update(r.sum, crc32.IEEETable, buf[:end])
	if got := binary.LittleEndian.Uint32(buf[end:]); got != r.sum {
		return fmt.Errorf("%w: %s has checksum %#08x, want %#08x", bloom.ErrCorrupt, what, got, r.sum)
	}
	for i, x := range numbers {
		*x = binary.LittleEndian.Uint64(buf[i*8:])
	}
	return nil
}

// Filter reads a filter.
func (r *Reader) Filter(what string, opts []bloom.Option) (*bloom.BloomFilter, error) {
	f, err := bloom.Read(r.r, opts...)
	switch {
	case err == io.EOF:
		return nil, truncated(what)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return f, nil
}

func (r *Reader) full(p []byte, what string) error {
	n, err := io.ReadFull(r.r, p)
	switch {
	case err == nil:
		r.began = true
		return nil
	case err == io.EOF && !r.began && n == 0:
		return err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return truncated(what)
	}
	return fmt.Errorf("reading %s: %w", what, err)
}

func truncated(what string) error {
	return fmt.Errorf("%w: it ends within %s: %w", bloom.ErrCorrupt, what, io.ErrUnexpectedEOF)
}

// Wrap puts the package's name in front of an error, but for an io.EOF that says that
// nothing was there.
func Wrap(pkg string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("%s: %w", pkg, err)
}
