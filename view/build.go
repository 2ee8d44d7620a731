package view

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// A Writer makes filters inside byte slices, for [Parse]. It is for programs that make a small filter for each block of
// a table. [Writer.Add] collects keys, 16 bytes each, and [Writer.AppendTo] makes the filter. Make a Writer with
// [NewWriter]; the methods of the zero Writer panic. A Writer is not safe for concurrent use.
type Writer struct {
	bitsPerKey float64
	scheme     *bloom.Scheme // of all filters, except for m
	meta       uint32        // k, strategy, hash and version, as in a trailer
	digests    [][2]uint64
}

// NewWriter returns a Writer of filters with bitsPerKey bits per key and the k of [bloom.ParamsForBits]. The strategy
// is [bloom.DoubleHashing], [bloom.SplitBlock] or [bloom.Blocked]. Options set the hash, [bloom.Murmur3] or
// [bloom.RapidHash], and its seed. The trailer of each filter names both, so that [Parse] needs no options. For another
// hash or a secret, store only the bits: see [Over].
//
// The error wraps [bloom.ErrInvalid] if bitsPerKey is not between 1 and 1000, for other strategies and hashes, and for
// options that set another strategy or a limit of bytes.
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

// empty appends an empty filter for n keys to dst. It returns the extended slice and the filter.
func (w *Writer) empty(dst []byte, n int) ([]byte, Filter) {
	w.check()
	start, size := len(dst), w.bitBytes(n)
	dst = slices.Grow(dst, size+trailerBytes)[:start+size]
	clear(dst[start:])
	dst = binary.LittleEndian.AppendUint64(dst, w.scheme.Seed())
	dst = binary.LittleEndian.AppendUint32(dst, w.meta)
	dst = binary.LittleEndian.AppendUint32(dst, check(uint64(size)*8, w.scheme.Seed(), w.meta))
	return dst, Filter{viewOf(dst[start:])}
}

// bitBytes returns the size of the bits for n keys, in bytes.
func (w *Writer) bitBytes(n int) int {
	most := uint64(math.MaxInt / 2)
	if w.scheme.Strategy() == bloom.SplitBlock {
		most = min(most, maxSplitBlocks*splitBytes)
	}
	bytes := math.Ceil(float64(n) * w.bitsPerKey / 8)
	if bytes > float64(most) {
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

// AddDigest collects the digest of a key unless it equals the digest collected last.
func (w *Writer) AddDigest(h1, h2 uint64) {
	w.check()
	n := len(w.digests)
	if n > 0 && w.digests[n-1] == [2]uint64{h1, h2} {
		return
	}
	// The halves are stored one by one: a copy of 16 bytes would wait for the 8-byte stores of h1 and h2.
	w.digests = append(w.digests, [2]uint64{})
	w.digests[n][0], w.digests[n][1] = h1, h2
}

// AppendTo appends the filter of the collected keys to dst, and forgets the keys. Without keys, it appends an empty
// filter.
//
// A filter for n keys takes n·bitsPerKey bits, rounded up to whole bytes or blocks, and 16 bytes. AppendTo allocates
// only if dst has too little room, as the built-in append does: if the machine has too little memory, the process ends.
// It panics if the filter takes more than half the largest int in bytes or, with [bloom.SplitBlock], 128 GiB or more.
func (w *Writer) AppendTo(dst []byte) []byte {
	dst, f := w.empty(dst, len(w.digests))
	for i := range w.digests {
		f.addDigest(w.digests[i][0], w.digests[i][1])
	}
	w.digests = w.digests[:0]
	return dst
}
