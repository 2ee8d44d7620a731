package bloom

import (
	"bytes"
	"encoding/base64"
	"io"
	"math"

	"github.com/seed3447c163/bloom/internal/format"
)

// WriteTo writes the filter to w, in O(m). The size is [BloomFilter.SizeBytes] plus 72 to 584 bytes; [docs/spec.md]
// describes the format. The bytes are the same on every architecture. Every later release reads them with [Read]. They
// contain a check value of the secret, but not the secret itself.
//
// WriteTo needs 64 KiB of memory for any size. It may run while keys are added: it writes every
// key whose Add returned before WriteTo was called, and perhaps some bits of later keys.
//
// WriteTo returns any error from w. It writes nothing and returns an error that wraps
// [ErrNotPortable] if no other process could read the bytes, see [Scheme.Portable].
//
// [docs/spec.md]: https://github.com/seed3447c163/bloom/blob/main/docs/spec.md
func (f *BloomFilter) WriteTo(w io.Writer) (int64, error) {
	h, err := f.scheme.header()
	if err != nil {
		return 0, err
	}
	return h.Write(w, f.bits)
}

// The marshalling methods have value receivers. Otherwise encoding/json would lose all keys of a
// filter that is a field and not a pointer, without an error.

// MarshalBinary returns what [BloomFilter.WriteTo] writes. It implements encoding.BinaryMarshaler, so that encoding/gob
// works. It returns WriteTo's errors. On a 32-bit system, the error wraps [ErrTooLarge] if the bytes do not fit in a
// slice.
func (f BloomFilter) MarshalBinary() ([]byte, error) {
	size, err := f.roomFor(1)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	_, err = f.WriteTo(b)
	return b.Bytes(), err
}

// MarshalText returns what [BloomFilter.WriteTo] writes, in base64. It implements
// encoding.TextMarshaler, so encoding/json works; it needs memory for three copies of the text.
func (f BloomFilter) MarshalText() ([]byte, error) {
	size, err := f.roomFor(2)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, base64.StdEncoding.EncodedLen(size)))
	text := base64.NewEncoder(base64.StdEncoding, b)
	if _, err = f.WriteTo(text); err == nil {
		err = text.Close()
	}
	return b.Bytes(), err
}

// roomFor returns the size of the encoded filter, or an error if a slice cannot hold times·size bytes.
func (f *BloomFilter) roomFor(times uint64) (int, error) {
	h, err := f.scheme.header()
	if err != nil {
		return 0, err
	}
	size := h.FileBytes(len(f.bits))
	if size > math.MaxInt/times {
		return 0, fail(ErrTooLarge, "the filter is written as %d bytes, want at most %d: use WriteTo", size, math.MaxInt/times)
	}
	return int(size), nil
}

// AppendBinary appends the scheme to dst, for custom formats: the header of 64 to 576 bytes that [BloomFilter.WriteTo]
// writes before the bits. [ReadScheme] reads it. The method implements encoding.BinaryAppender. It returns the error of
// [Scheme.Portable].
func (s *Scheme) AppendBinary(dst []byte) ([]byte, error) {
	h, err := s.header()
	if err != nil {
		return dst, err
	}
	return h.Append(dst), nil
}

// header returns the header of files with this scheme, or the error of Portable.
func (s *Scheme) header() (format.Header, error) {
	if err := s.Portable(); err != nil {
		return format.Header{}, err
	}
	return format.Header{
		M: s.params.M, N: s.params.N, K: s.params.K, P: s.params.P,
		Check: s.checkValue(), Strategy: s.strategy.Name(), Hash: s.hash.name,
	}, nil
}
