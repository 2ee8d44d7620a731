package bloom

import (
	"io"
	"math"
)

// AppendBinary appends the scheme in bytes that say all of it: the header, of 64 to 576
// bytes, with which each of its filters begins where [BloomFilter.WriteTo] writes it. It
// is for formats of one's own, and [ReadScheme] reads it. It implements
// encoding.BinaryAppender. The error wraps [ErrNotPortable] where WriteTo's does.
func (s Scheme) AppendBinary(dst []byte) ([]byte, error) {
	o := s.scheme.orNone()
	if err := o.portable(); err != nil {
		return dst, err
	}
	return o.appendHeader(dst), nil
}

// ReadScheme reads what [Scheme.AppendBinary] has written, or only the header of a
// filter, to learn what it is without reading it, and nothing beyond. Options and errors
// are those of [Read], except that no memory is asked for, and that the filter's own is
// held only to [WithMaxBytes].
func ReadScheme(r io.Reader, opts ...Option) (Scheme, error) {
	o, err := options{maxBytes: math.MaxUint64}.with(opts)
	if err != nil {
		return Scheme{}, err
	}
	h, err := (&source{r: r}).header()
	if err != nil {
		return Scheme{}, err
	}
	s, err := h.scheme(o)
	return Scheme{s}, err
}
