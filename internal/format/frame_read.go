package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom/internal/failure"
)

// A FrameReader reads what a FrameWriter has written.
type FrameReader struct {
	r    io.Reader
	sum  Checksum
	tail tail
}

// NewFrameReader reads and checks the magic. The last byte of the magic is the version of the format. At the end of the
// stream, NewFrameReader returns io.EOF itself.
func NewFrameReader(r io.Reader, magic string) (*FrameReader, error) {
	got := make([]byte, len(magic))
	if _, err := Full(r, got, "the header", true); err != nil {
		return nil, err
	}
	in, last := &FrameReader{r: r}, len(magic)-1
	in.sum.Add(got)
	switch {
	case string(got) == magic:
		return in, nil
	case string(got[:last]) == magic[:last]:
		return nil, failure.Errorf(failure.ErrIncompatible, "the data has format version %d, want %d", got[last], magic[last])
	}
	return nil, Unexpected(got, magic)
}

// Numbers reads numbers. Then it reads and checks the checksum of everything read so far. what names the numbers in
// errors.
func (r *FrameReader) Numbers(what string, numbers ...*uint64) error {
	buf := make([]byte, len(numbers)*8+TrailerBytes)
	if _, err := Full(r.r, buf, what, false); err != nil {
		return err
	}
	end := len(numbers) * 8
	r.sum.Add(buf[:end])
	if got, want := buf[end:], r.sum.appendHalves(nil); !bytes.Equal(got, want) {
		return failure.Errorf(failure.ErrCorrupt, "%s has checksum %x, want %x", what, got, want)
	}
	for i, x := range numbers {
		*x = binary.LittleEndian.Uint64(buf[i*8:])
	}
	return nil
}

// ReadFilter reads a filter of a frame. read is bloom.Read, which this package cannot import. what names the filter in
// errors.
func ReadFilter[F, Option any](r *FrameReader, what string, read func(io.Reader, ...Option) (F, error), opts []Option) (F, error) {
	var none F
	f, err := read((*source)(r), opts...)
	switch {
	case err == io.EOF:
		return none, Truncated(what)
	case err != nil:
		return none, fmt.Errorf("%w, in %s", err, what)
	}
	r.sum.Add(r.tail.bytes[:])
	return f, nil
}

// source is the reader that ReadFilter passes to read. It keeps the last eight bytes.
type source FrameReader

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.tail.add(p[:n])
	return n, err
}

// Len lets a filter allocate its memory at once if the reader knows its length.
func (s *source) Len() int { return AsLen(Remaining(s.r)) }
