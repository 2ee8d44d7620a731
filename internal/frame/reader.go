package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
)

// A Reader reads what a Writer has written.
type Reader struct {
	r    io.Reader
	sum  checksum
	tail tail
}

// NewReader reads a magic, whose last byte is the version of the format. At the end of the stream it returns io.EOF
// itself.
func NewReader(r io.Reader, magic string) (*Reader, error) {
	got := make([]byte, len(magic))
	if _, err := format.Full(r, got, "the header", true); err != nil {
		return nil, err
	}
	in, last := &Reader{r: r}, len(magic)-1
	in.sum.Add(got)
	switch {
	case string(got) == magic:
		return in, nil
	case string(got[:last]) == magic[:last]:
		return nil, failure.Errorf(bloom.ErrIncompatible, "the data has format version %d, want %d", got[last], magic[last])
	}
	return nil, format.Unexpected(got, magic)
}

// Numbers reads numbers, and the checksum of everything read so far.
func (r *Reader) Numbers(what string, numbers ...*uint64) error {
	buf := make([]byte, len(numbers)*8+checksumBytes)
	if _, err := format.Full(r.r, buf, what, false); err != nil {
		return err
	}
	end := len(numbers) * 8
	r.sum.Add(buf[:end])
	if got, want := buf[end:], r.sum.append(nil); !bytes.Equal(got, want) {
		return failure.Errorf(bloom.ErrCorrupt, "%s has checksum %x, want %x", what, got, want)
	}
	for i, x := range numbers {
		*x = binary.LittleEndian.Uint64(buf[i*8:])
	}
	return nil
}

// Filter reads a filter. what names it in errors.
func (r *Reader) Filter(what string, opts []bloom.Option) (*bloom.BloomFilter, error) {
	f, err := bloom.Read((*source)(r), opts...)
	switch {
	case err == io.EOF:
		return nil, format.Truncated(what)
	case err != nil:
		return nil, fmt.Errorf("%w, in %s", err, what)
	}
	r.sum.Add(r.tail.bytes[:])
	return f, nil
}

// source is the reader that Filter passes to bloom.Read. It keeps the last eight bytes.
type source Reader

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.tail.add(p[:n])
	return n, err
}

// Len lets a filter allocate its memory at once if the reader knows its length.
func (s *source) Len() int { return format.AsLen(format.Remaining(s.r)) }
