package view

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom"
)

// A Builder collects keys and appends a filter of them to a byte slice, for [New]. It is for
// programs that make a small filter for each block of a table. It keeps 16 bytes per key, in memory
// that it uses again. It is not safe for concurrent use.
type Builder struct {
	bitsPerKey  float64
	k, strategy uint8
	scheme      bloom.Scheme // of any number of bits: it hashes
	digests     [][2]uint64
}

// NewBuilder returns a builder of filters with bitsPerKey bits per key and the k of
// [bloom.ParamsForBits]. Strategies are [bloom.DoubleHashing], [bloom.SplitBlock] and
// [bloom.Blocked], which becomes Blocked2 up to 10 bits per key, Blocked4 up to 25 and Blocked8 for
// more. Options choose the hash, its seed or its key. A view names [bloom.Murmur3] or
// [bloom.RapidHash] and the seed. With another hash or a key, use [View.ContainsDigest].
//
// The error wraps [bloom.ErrInvalid] if bitsPerKey is not between 1 and 1000, for other strategies,
// and for options that choose another strategy or a limit of bytes, because the size follows from
// the keys: see [Builder.SizeBytes]. It wraps [bloom.ErrNotPortable] for [bloom.MapHash].
func NewBuilder(bitsPerKey float64, s bloom.Strategy, opts ...bloom.Option) (*Builder, error) {
	if !(bitsPerKey >= 1 && bitsPerKey <= 1000) {
		return nil, fmt.Errorf("%w: %v bits per key, want 1 to 1000", bloom.ErrInvalid, bitsPerKey)
	}
	if s == bloom.Blocked {
		switch s = bloom.Blocked8; {
		case bitsPerKey <= 10:
			s = bloom.Blocked2
		case bitsPerKey <= 25:
			s = bloom.Blocked4
		}
	}
	if limit := bloom.MaxBytes(opts...); limit != math.MaxUint64 {
		return nil, fmt.Errorf("%w: a limit of %d bytes for a builder, want none: the size follows from the keys", bloom.ErrInvalid, limit)
	}
	params, err := bloom.ParamsForBits(1000, bitsPerKey, s)
	if err != nil {
		return nil, err
	}
	scheme, err := bloom.NewSchemeWithParams(params, slices.Concat([]bloom.Option{bloom.WithStrategy(s)}, opts)...)
	if err != nil {
		return nil, err
	}
	if other := scheme.Strategy(); other != s {
		return nil, fmt.Errorf("%w: the options ask for strategy %q, the builder is for %q", bloom.ErrInvalid, other, s)
	}
	strategy, err := viewable(scheme)
	if err != nil {
		return nil, err
	}
	return &Builder{bitsPerKey: bitsPerKey, k: uint8(params.K), strategy: strategy, scheme: scheme}, nil
}

// Add adds a key, unless it equals the last one.
func (b *Builder) Add(key []byte) { b.AddDigest(b.scheme.Digest(key)) }

// AddDigest adds a key by its digest unless the digest equals the last one.
func (b *Builder) AddDigest(h1, h2 uint64) {
	n := len(b.digests)
	if n > 0 && b.digests[n-1] == [2]uint64{h1, h2} {
		return
	}
	// Stored by halves: a copy of 16 bytes would wait for the stores of 8 that made it.
	b.digests = append(b.digests, [2]uint64{})
	b.digests[n][0], b.digests[n][1] = h1, h2
}

// SizeBytes returns how many bytes AppendTo will append: bitsPerKey for each key, rounded up
// to whole bytes or whole blocks, and 16.
func (b *Builder) SizeBytes() int { return b.bitBytes() + trailerBytes }

func (b *Builder) bitBytes() int {
	unit := 1
	switch b.strategy {
	case double:
	case split:
		unit = splitBytes
	default:
		unit = blockBytes
	}
	bytes := max(1, int((float64(len(b.digests))*b.bitsPerKey+7)/8))
	return (bytes + unit - 1) / unit * unit
}

// AppendTo appends the filter of the keys so far to dst, and forgets them. It allocates only if dst
// has too little room. A filter of no keys contains none.
func (b *Builder) AppendTo(dst []byte) []byte {
	start, size := len(dst), b.bitBytes()
	dst = slices.Grow(dst, size+trailerBytes)[:start+size]
	bits := dst[start:]
	clear(bits)
	m := uint64(size) * 8
	addToBytes(bits, int(b.k), b.strategy, b.digests)
	b.digests = b.digests[:0]
	seed := b.scheme.Seed() // 0 of a secret key
	meta := uint32(b.k) | uint32(b.strategy)<<8 | uint32(numberOfHash(b.scheme.Hash()))<<16 | version<<24
	dst = binary.LittleEndian.AppendUint64(dst, seed)
	dst = binary.LittleEndian.AppendUint32(dst, meta)
	return binary.LittleEndian.AppendUint32(dst, check(m, seed, meta))
}
