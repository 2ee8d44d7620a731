package format

import (
	"encoding/binary"
	"io"
)

// A frame is a file of numbers and several filters, with checksums of the whole.
//
// A filter's own checksum shows that the filter is intact, but not that it is the right filter in the right place. So
// the frame's checksum covers the magic, the numbers and the checksum of each filter, in their order. It skips the
// other bytes of the filters. They would add nothing: bytes that end with their own CRC all have the same CRC.

// A tail holds the last bytes that were added: at the end of a filter, its checksum.
type tail struct {
	bytes [TrailerBytes]byte
}

func (t *tail) add(p []byte) {
	if len(p) < TrailerBytes {
		copy(t.bytes[:], t.bytes[len(p):])
	}
	copy(t.bytes[TrailerBytes-min(len(p), TrailerBytes):], p[max(0, len(p)-TrailerBytes):])
}

// A FrameWriter writes a frame and counts the bytes. After an error it does nothing more. It buffers bytes until the
// next filter writes its first byte: if the first filter is not portable, nothing is written at all.
type FrameWriter struct {
	w       io.Writer
	n       int64
	err     error
	sum     Checksum
	tail    tail
	pending []byte
}

// NewFrameWriter returns a FrameWriter of the format with this magic.
func NewFrameWriter(w io.Writer, magic string) *FrameWriter {
	out := &FrameWriter{w: w, pending: []byte(magic)}
	out.sum.Add(out.pending)
	return out
}

// Numbers writes numbers, little-endian, and the checksum of everything written so far. Each frame ends with such a
// checksum.
func (w *FrameWriter) Numbers(numbers ...uint64) {
	start := len(w.pending)
	for _, x := range numbers {
		w.pending = binary.LittleEndian.AppendUint64(w.pending, x)
	}
	w.sum.Add(w.pending[start:])
	w.pending = w.sum.appendHalves(w.pending)
}

// Filter writes a filter.
func (w *FrameWriter) Filter(f io.WriterTo) {
	if w.err != nil {
		return
	}
	if _, w.err = f.WriteTo((*through)(w)); w.err == nil {
		w.sum.Add(w.tail.bytes[:])
	}
}

// Result writes the pending bytes. It returns the results for a method WriteTo.
func (w *FrameWriter) Result() (int64, error) {
	if w.err == nil {
		w.err = (*through)(w).flush()
	}
	return w.n, w.err
}

// through is the writer that Filter passes to WriteTo. It first writes the pending bytes, and remembers the last eight
// bytes of the filter, its checksum.
type through FrameWriter

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
