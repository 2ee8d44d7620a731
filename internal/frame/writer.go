package frame

import (
	"encoding/binary"
	"io"

	"github.com/seed3447c163/bloom"
)

// A Writer writes a file and counts the bytes. After an error it does nothing more. It keeps the bytes before a filter
// until the filter is written: if the filter is not portable, nothing has been written.
type Writer struct {
	w       io.Writer
	n       int64
	err     error
	sum     checksum
	tail    tail
	pending []byte
}

// NewWriter returns a Writer of the format with this magic.
func NewWriter(w io.Writer, magic string) *Writer {
	out := &Writer{w: w, pending: []byte(magic)}
	out.sum.Add(out.pending)
	return out
}

// Numbers writes numbers, little-endian, and the checksum of everything written so far. Each file ends with such a
// checksum.
func (w *Writer) Numbers(numbers ...uint64) {
	start := len(w.pending)
	for _, x := range numbers {
		w.pending = binary.LittleEndian.AppendUint64(w.pending, x)
	}
	w.sum.Add(w.pending[start:])
	w.pending = w.sum.append(w.pending)
}

// Filter writes a filter.
func (w *Writer) Filter(f *bloom.BloomFilter) {
	if w.err != nil {
		return
	}
	if _, w.err = f.WriteTo((*through)(w)); w.err == nil {
		w.sum.Add(w.tail.bytes[:])
	}
}

// Result writes the pending bytes. It returns the results for a method WriteTo.
func (w *Writer) Result() (int64, error) {
	if w.err == nil {
		w.err = (*through)(w).flush()
	}
	return w.n, w.err
}

// through is the writer that Filter passes to WriteTo. It first writes the pending bytes, and keeps the
// last eight bytes of the filter.
type through Writer

func (w *through) Write(p []byte) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	if err := w.write(p); err != nil {
		return 0, err
	}
	w.tail.add(p)
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
