package bloom

import (
	"fmt"
	"hash/maphash"

	"github.com/twmb/murmur3"
)

// A BloomFilter is a set of keys that answers "definitely not in the set" or
// "probably in the set". Make one with [New] or [Read]; the zero BloomFilter holds
// nothing and panics when used, but can be read into.
//
// All methods are safe for concurrent use by multiple goroutines, except
// [BloomFilter.ReadFrom] and the two that unmarshal. Add and Contains take no lock
// and allocate nothing.
type BloomFilter struct {
	bits bitArray
	scheme
}

// New returns an empty filter for n different keys with a false-positive rate of
// at most p once they are in. It takes about -1.44·n·log2(p) bits, see
// [ParamsFor].
//
// The error wraps [ErrInvalid] if n is 0, p is not between 0 and 1 or too small
// to be kept, or the strategy is not valid, and [ErrTooLarge] if the machine has
// too little memory.
func New(n uint64, p float64, opts ...Option) (*BloomFilter, error) {
	s, err := sized(n, p, newOptions(opts))
	if err != nil {
		return nil, err
	}
	return newFilter(s)
}

// MustNew is [New] for parameters that are constants of the program: it panics
// where New returns an error.
func MustNew(n uint64, p float64, opts ...Option) *BloomFilter {
	f, err := New(n, p, opts...)
	if err != nil {
		panic(err)
	}
	return f
}

// NewWithParams returns an empty filter of exactly params.M bits with params.K
// bits to a key, for those who know both, for instance because another system
// chose them. params.N and params.P say what they were chosen for; they may be
// zero, and are not checked against M and K.
//
// The error wraps [ErrInvalid] if M is 0, K is not in 1..64 (1..255 for the
// strategies of other systems), P is neither 0 nor between 0 and 1, or the strategy
// is not valid or cannot be had with these M and K, and [ErrTooLarge] if the machine
// has too little memory.
func NewWithParams(params Params, opts ...Option) (*BloomFilter, error) {
	s, err := given(params, newOptions(opts))
	if err != nil {
		return nil, err
	}
	return newFilter(s)
}

func (p Params) validate(s Strategy) error {
	switch {
	case p.M == 0:
		return fmt.Errorf("%w: m = 0 bits, want at least 1", ErrInvalid)
	case p.K < 1 || p.K > s.maxK():
		return fmt.Errorf("%w: k = %d bits a key, want 1 to %d", ErrInvalid, p.K, s.maxK())
	case p.P != 0 && !(p.P > 0 && p.P < 1):
		return fmt.Errorf("%w: p = %v, want 0 < p < 1, or 0 for unknown", ErrInvalid, p.P)
	}
	return nil
}

func newFilter(s scheme) (*BloomFilter, error) {
	b, err := newBitArray(s.params.M)
	if err != nil {
		return nil, err
	}
	return &BloomFilter{bits: b, scheme: s}, nil
}

// Add adds a key. It returns true if the key is definitely new and this call is
// the one that added it, false if it was probably there already.
//
// Of any number of goroutines that add the same new key at the same time, exactly
// one gets true. The exception: if an add of another key sets this key's last
// missing bit in those nanoseconds, nobody does, an ordinary false positive.
//
// Once Add has returned, every later Contains of the key is true.
func (f *BloomFilter) Add(key []byte) bool {
	switch { // as hasher.sum does, with a call less
	case f.hash.hash == MapHash:
		h1 := maphash.Bytes(mapSeed, key)
		return f.AddHash(h1, widen(h1))
	case f.strategy.NeedsKey():
		return f.addKey(key)
	case f.hash.hash == Murmur3:
		return f.AddHash(murmur3.SeedSum128(f.hash.k0, f.hash.k0, key))
	}
	return f.AddHash(f.hash.sum(key))
}

// AddString is [BloomFilter.Add] for a string, without copying it: a string and
// its bytes are the same key.
func (f *BloomFilter) AddString(key string) bool { return f.Add(bytesOf(key)) }

// AddHash is [BloomFilter.Add] for a key whose digest is already known, from
// [BloomFilter.Hash] of this or a compatible filter. It panics if the strategy
// needs the key itself, as [SeededHashing] and [BitsAndBlooms] do.
func (f *BloomFilter) AddHash(h1, h2 uint64) bool {
	switch f.strategy.id {
	case idDoubleHashing:
		return doubleAdd(f.bits, f.params.M, f.params.K, h1, h2)
	case idBlocked2:
		return blocked2Add(f.bits, f.params.M, f.params.K, h1, h2)
	case idBlocked4:
		return blocked4Add(f.bits, f.params.M, f.params.K, h1, h2)
	case idBlocked1, idBlocked8:
		return blockedAdd(f.bits, f.params.M, f.params.K, f.strategy.groups(), h1, h2)
	case idGuavaMitz64:
		return mitz64Add(f.bits, &f.divisor, f.params.K, h1, h2)
	case idGuavaMitz32:
		return mitz32Add(f.bits, &f.divisor, f.params.K, h1)
	case idCustom:
		return customAdd(f.bits, f.params.M, f.params.K, f.strategy, h1, h2)
	}
	panic(f.misuse("AddHash"))
}

// addKey adds a key for the strategies that need more than its digest.
func (f *BloomFilter) addKey(key []byte) bool {
	if f.strategy.id == idBitsAndBlooms {
		return bitsAndBloomsAdd(f.bits, &f.divisor, f.params.K, sum256(f.hash.k0, key))
	}
	return seededAdd(f.bits, &f.divisor, f.params.K, f.hash.k0, key)
}

// Contains returns false if the key was definitely never added, true if it
// probably was.
func (f *BloomFilter) Contains(key []byte) bool {
	switch { // as hasher.sum does, with a call less
	case f.hash.hash == MapHash:
		h1 := maphash.Bytes(mapSeed, key)
		return f.ContainsHash(h1, widen(h1))
	case f.strategy.NeedsKey():
		return f.containsKey(key)
	case f.hash.hash == Murmur3:
		return f.ContainsHash(murmur3.SeedSum128(f.hash.k0, f.hash.k0, key))
	}
	return f.ContainsHash(f.hash.sum(key))
}

// ContainsString is [BloomFilter.Contains] for a string, without copying it.
func (f *BloomFilter) ContainsString(key string) bool { return f.Contains(bytesOf(key)) }

// ContainsHash is [BloomFilter.Contains] for a key whose digest is already known.
// It panics where [BloomFilter.AddHash] does.
func (f *BloomFilter) ContainsHash(h1, h2 uint64) bool {
	switch f.strategy.id {
	case idDoubleHashing:
		return doubleContains(f.bits, f.params.M, f.params.K, h1, h2)
	case idBlocked2:
		return blocked2Contains(f.bits, f.params.M, f.params.K, h1, h2)
	case idBlocked4:
		return blocked4Contains(f.bits, f.params.M, f.params.K, h1, h2)
	case idBlocked1, idBlocked8:
		return blockedContains(f.bits, f.params.M, f.params.K, f.strategy.groups(), h1, h2)
	case idGuavaMitz64:
		return mitz64Contains(f.bits, &f.divisor, f.params.K, h1, h2)
	case idGuavaMitz32:
		return mitz32Contains(f.bits, &f.divisor, f.params.K, h1)
	case idCustom:
		return customContains(f.bits, f.params.M, f.params.K, f.strategy, h1, h2)
	}
	panic(f.misuse("ContainsHash"))
}

// containsKey asks for the strategies that need more than the digest.
func (f *BloomFilter) containsKey(key []byte) bool {
	if f.strategy.id == idBitsAndBlooms {
		return bitsAndBloomsContains(f.bits, &f.divisor, f.params.K, sum256(f.hash.k0, key))
	}
	return seededContains(f.bits, &f.divisor, f.params.K, f.hash.k0, key)
}

// misuse says what a call on a filter of this strategy did wrong.
func (f *BloomFilter) misuse(call string) string {
	if f.strategy.id == idNone {
		return "bloom: use of a BloomFilter that was not made by New"
	}
	return fmt.Sprintf("bloom: %s on a filter with strategy %q, which needs the key itself", call, f.strategy)
}

// Hash returns the 128-bit digest of a key, to hash once and ask many filters
// with [BloomFilter.AddHash] and [BloomFilter.ContainsHash]. The digest serves
// every filter with the same hash and seed or key, whatever its size, and with any
// strategy but [SeededHashing] and [BitsAndBlooms], which need the key itself.
func (f *BloomFilter) Hash(key []byte) (h1, h2 uint64) { return f.hash.sum(key) }

// HashString is [BloomFilter.Hash] for a string, without copying it.
func (f *BloomFilter) HashString(key string) (h1, h2 uint64) { return f.hash.sum(bytesOf(key)) }

// Params returns what the filter was made with.
func (f *BloomFilter) Params() Params { return f.params }

// Strategy returns the strategy that finds the keys' positions. For a filter made
// with [Blocked] it is the one of Blocked1 to Blocked8 that New chose.
func (f *BloomFilter) Strategy() Strategy { return f.strategy }

// SizeBytes returns the memory that the bits take.
func (f *BloomFilter) SizeBytes() uint64 { return uint64(len(f.bits)) * 8 }

// GoString is String: %#v would print all bits, and the secret key.
func (f BloomFilter) GoString() string { return f.String() }

// String describes the filter in a line for a log, in constant time.
func (f BloomFilter) String() string {
	return fmt.Sprintf("bloom.BloomFilter(n=%d p=%g m=%d k=%d strategy=%s hash=%v bytes=%d)",
		f.params.N, f.params.P, f.params.M, f.params.K, f.strategy, f.hash.hash, f.SizeBytes())
}
