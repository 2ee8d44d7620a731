package view

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// A Writer makes filters inside byte slices, for [Parse]. It is for programs that make a small filter
// for each block of a table. If the number of keys is known, [Writer.Append] makes a filter at once.
// Otherwise a Writer collects keys: it keeps 16 bytes per key, in memory that it uses again. Make
// one with [NewWriter]; the methods of the zero Writer panic. A Writer is not safe for concurrent
// use.
type Writer struct {
	bitsPerKey float64
	scheme     bloom.Scheme // of any number of bits: it hashes
	meta       uint32       // of a trailer
	digests    [][2]uint64
}

// NewWriter returns a Writer of filters with bitsPerKey bits per key and the k of
// [bloom.ParamsForBits]. Strategies are [bloom.DoubleHashing], [bloom.SplitBlock] and
// [bloom.Blocked]. Options choose the hash, [bloom.Murmur3] or [bloom.RapidHash], and its seed: the
// filter's trailer names them. For another hash or a secret, store the bits only: see [Attach].
//
// The error wraps [bloom.ErrInvalid] if bitsPerKey is not between 1 and 1000, for other strategies
// and hashes, and for options that choose another strategy or a limit of bytes, because the size
// follows from the keys.
func NewWriter(bitsPerKey float64, s bloom.Strategy, opts ...bloom.Option) (*Writer, error) {
	if !(bitsPerKey >= 1 && bitsPerKey <= 1000) {
		return nil, failure.Errorf(bloom.ErrInvalid, "%v bits per key, want 1 to 1000", bitsPerKey)
	}
	if limit := bloom.MaxBytes(opts...); limit != math.MaxUint64 {
		return nil, failure.Errorf(bloom.ErrInvalid, "a limit of %d bytes for a Writer, want none: the size follows from the keys", limit)
	}
	params, err := bloom.ParamsForBits(1000, bitsPerKey, s)
	if err != nil {
		return nil, err
	}
	scheme, err := bloom.NewSchemeWithParams(params, slices.Concat([]bloom.Option{bloom.WithStrategy(s)}, opts)...)
	if err != nil {
		return nil, err
	}
	meta := metaOf(scheme) | version<<24
	switch {
	case scheme.Strategy() != s:
		return nil, failure.Errorf(bloom.ErrInvalid, "the options ask for strategy %q, the Writer is for %q", scheme.Strategy(), s)
	case meta>>8&0xff == other:
		return nil, failure.Errorf(bloom.ErrInvalid, "a trailer for strategy %q, want DoubleHashing, Blocked or SplitBlock", s)
	case meta>>16&0xff == other:
		return nil, failure.Errorf(bloom.ErrInvalid, "a trailer for hash %q, want Murmur3 or RapidHash", scheme.Hash())
	}
	return &Writer{bitsPerKey: bitsPerKey, scheme: scheme, meta: meta}, nil
}

// check panics for the zero Writer.
func (w *Writer) check() {
	if w.meta == 0 {
		panic("view: use of the zero Writer: make one by NewWriter")
	}
}

// Append appends an empty filter for n keys to dst. It returns the longer slice, and the filter in it:
// add the keys before the slice grows again, which may move it. A filter for 0 keys is valid.
//
// It allocates only if dst has too little room: the filter has bitsPerKey for each key, rounded up to
// whole bytes or whole blocks, and 16 bytes. It panics if n is negative, or if the filter cannot fit the memory
// or, with [bloom.SplitBlock], takes 128 GiB or more.
func (w *Writer) Append(dst []byte, n int) ([]byte, Filter) {
	w.check()
	start, size := len(dst), w.bitBytes(n)
	dst = slices.Grow(dst, size+trailerBytes)[:start+size]
	clear(dst[start:])
	dst = binary.LittleEndian.AppendUint64(dst, w.scheme.Seed())
	dst = binary.LittleEndian.AppendUint32(dst, w.meta)
	dst = binary.LittleEndian.AppendUint32(dst, check(uint64(size)*8, w.scheme.Seed(), w.meta))
	return dst, Filter{viewOf(dst[start:])}
}

// bitBytes returns the size of the bits of n keys.
func (w *Writer) bitBytes(n int) int {
	most := uint64(math.MaxInt / 2)
	if w.scheme.Strategy() == bloom.SplitBlock {
		most = min(most, maxSplitBlocks*splitBytes)
	}
	bytes := math.Ceil(float64(n) * w.bitsPerKey / 8)
	if n < 0 || bytes > float64(most) {
		panic(fmt.Sprintf("view: a filter for %d keys of %v bits, want 0 to %d bytes", n, w.bitsPerKey, most))
	}
	unit := units[w.meta>>8&0xff]
	return (max(1, int(bytes)) + unit - 1) / unit * unit
}

// Add collects a key, unless it equals the last one.
func (w *Writer) Add(key []byte) {
	w.check()
	w.AddDigest(w.scheme.Digest(key))
}

// AddDigest collects a key by its digest unless the digest equals the last one.
func (w *Writer) AddDigest(h1, h2 uint64) {
	w.check()
	n := len(w.digests)
	if n > 0 && w.digests[n-1] == [2]uint64{h1, h2} {
		return
	}
	// Stored by halves: a copy of 16 bytes would wait for the stores of 8 that made it.
	w.digests = append(w.digests, [2]uint64{})
	w.digests[n][0], w.digests[n][1] = h1, h2
}

// AppendTo appends the filter of the collected keys to dst, and forgets them. It allocates only if
// dst has too little room. Without keys, it appends an empty filter.
func (w *Writer) AppendTo(dst []byte) []byte {
	dst, f := w.Append(dst, len(w.digests))
	for i := range w.digests {
		f.addDigest(w.digests[i][0], w.digests[i][1])
	}
	w.digests = w.digests[:0]
	return dst
}
