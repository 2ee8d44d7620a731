package bloom

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom/internal/probe"
)

// A ViewBuilder collects keys and appends the filter of them, in bytes for [NewView], to a
// buffer: for who makes a small filter for each block of a table. It keeps 16 bytes a key,
// in memory that it uses again. It is not for concurrent use.
type ViewBuilder struct {
	bitsPerKey float64
	k          int
	strategy   byte
	scheme     *scheme
	digests    [][2]uint64
}

// NewViewBuilder returns a builder of filters with so many bits a key, and the k that
// [ParamsForBits] has for that. Strategies are [DoubleHashing], the default, [SplitBlock],
// and [Blocked], which becomes Blocked2 up to 10 bits a key, Blocked4 up to 25 and Blocked8
// for more. A view tells its readers [Murmur3] and the seed; those of one with another hash or with a
// key have to ask by [View.ContainsHash].
//
// The error wraps [ErrInvalid] if bitsPerKey is not between 1 and 1000, or for other
// strategies, and [ErrNotPortable] for [MapHash].
func NewViewBuilder(bitsPerKey float64, opts ...Option) (*ViewBuilder, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if !(bitsPerKey >= 1 && bitsPerKey <= 1000) {
		return nil, fmt.Errorf("%w: %v bits a key, want 1 to 1000", ErrInvalid, bitsPerKey)
	}
	if o.strategy == (Strategy{&blocked}) {
		switch o.strategy = (Strategy{&blocked8}); {
		case bitsPerKey <= 10:
			o.strategy = Strategy{&blocked2}
		case bitsPerKey <= 25:
			o.strategy = Strategy{&blocked4}
		}
	}
	k := o.strategy.kForBits(bitsPerKey)
	s, err := given(Params{M: o.strategy.get().sizedUnit(), K: k}, o)
	if err != nil {
		return nil, err
	}
	if err := s.viewable(); err != nil {
		return nil, err
	}
	return &ViewBuilder{bitsPerKey: bitsPerKey, k: k, strategy: s.viewStrategy(), scheme: s}, nil
}

// Add adds a key, unless it equals the last one.
func (b *ViewBuilder) Add(key []byte) { b.AddHash(b.scheme.hash.sum(key)) }

// AddHash adds a key by its digest, see [BloomFilter.AddHash], unless that equals the last
// one.
func (b *ViewBuilder) AddHash(h1, h2 uint64) {
	if n := len(b.digests); n == 0 || b.digests[n-1] != [2]uint64{h1, h2} {
		b.digests = append(b.digests, [2]uint64{h1, h2})
	}
}

// SizeBytes returns how many bytes AppendTo will append: bitsPerKey for each key, rounded up
// to whole bytes or whole blocks, and 16.
func (b *ViewBuilder) SizeBytes() int { return b.bitBytes() + viewTrailer }

func (b *ViewBuilder) bitBytes() int {
	unit := 1
	if b.strategy != viewDouble {
		unit = int(b.scheme.params.M / 8) // one block
	}
	bytes := max(1, int((float64(len(b.digests))*b.bitsPerKey+7)/8))
	return (bytes + unit - 1) / unit * unit
}

// AppendTo appends the filter of the keys so far to dst, and forgets them. It allocates only
// if dst has too little room. A filter of no keys has none.
func (b *ViewBuilder) AppendTo(dst []byte) []byte {
	start, size := len(dst), b.bitBytes()
	dst = slices.Grow(dst, size+viewTrailer)[:start+size]
	bits := dst[start:]
	clear(bits)
	m := uint64(size) * 8
	for _, d := range b.digests {
		addToBytes(bits, m, b.k, b.strategy, d[0], d[1]^probe.Xor)
	}
	b.digests = b.digests[:0]
	seed, hash := b.scheme.hash.k0, uint32(viewMurmur3)
	if b.scheme.hash.hash != &murmur3Hash {
		seed, hash = 0, viewOther // no part of a secret key
	}
	meta := uint32(b.k) | uint32(b.strategy)<<8 | hash<<16 | viewVersion<<24
	dst = binary.LittleEndian.AppendUint64(dst, seed)
	dst = binary.LittleEndian.AppendUint32(dst, meta)
	return binary.LittleEndian.AppendUint32(dst, viewCheck(m, seed, meta))
}
