package bloom

import (
	"bytes"
	"encoding/base64"
	"io"
	"math"
	"slices"

	"github.com/seed3447c163/bloom/internal/format"
)

// WriteTo writes the filter to w, in O(m): [BloomFilter.SizeBytes] and from 72 to
// 584 bytes more, see docs/format.md. The bytes are the same on every architecture, and every
// later release reads them, by [Read] and by [BloomFilter.ReadFrom]. They contain no secret
// key, only a number to recognise it by.
//
// It needs 64 KiB of memory for any size, and may run while keys are added: it writes every key
// whose Add had returned before WriteTo was called, and maybe some bits of later ones.
//
// The error is that of w, or wraps [ErrNotPortable] if the bytes would mean nothing to another
// process: with [MapHash], or with a custom strategy or hash without a name. Then nothing is
// written.
func (f *BloomFilter) WriteTo(w io.Writer) (int64, error) {
	h, err := f.scheme.header()
	if err != nil {
		return 0, err
	}
	return h.Write(w, f.bits)
}

// The marshalling methods have value receivers. Otherwise encoding/json would take a filter that
// is a field, not a pointer, for a struct without fields, and lose all keys without an error.

// AppendBinary appends what [BloomFilter.WriteTo] writes to dst. It implements
// encoding.BinaryAppender. The error is WriteTo's, or wraps [ErrTooLarge] on a 32-bit
// system if there is no slice that long.
func (f BloomFilter) AppendBinary(dst []byte) ([]byte, error) {
	size, err := f.roomFor(1)
	if err != nil {
		return dst, err
	}
	b := bytes.NewBuffer(slices.Grow(dst, size))
	_, err = f.WriteTo(b)
	return b.Bytes(), err
}

// MarshalBinary returns what [BloomFilter.WriteTo] writes. It implements
// encoding.BinaryMarshaler, so that encoding/gob works.
func (f BloomFilter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// MarshalText returns what [BloomFilter.WriteTo] writes, in base64. It implements
// encoding.TextMarshaler, so that encoding/json works. Handlers of log/slog call it too: log
// f.String() or f.Stats() instead of f.
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

// roomFor returns the size of the encoded filter. That size times times must fit a slice.
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

// AppendBinary appends the scheme in 64 to 576 bytes: the header that [BloomFilter.WriteTo]
// writes before the bits. It is for custom formats, and [ReadScheme] reads it. It implements
// encoding.BinaryAppender. The error wraps [ErrNotPortable] where WriteTo's does.
func (s Scheme) AppendBinary(dst []byte) ([]byte, error) {
	h, err := s.scheme.header()
	if err != nil {
		return dst, err
	}
	return h.Append(dst), nil
}

// header returns the header of files with this scheme, or the error of Portable.
func (s *scheme) header() (format.Header, error) {
	if err := s.portable(); err != nil {
		return format.Header{}, err
	}
	return format.Header{
		M: s.params.M, N: s.params.N, K: s.params.K, P: s.params.P,
		Check: s.hash.checkValue(), Strategy: s.strategy.Name(), Hash: s.hash.def.name,
	}, nil
}
