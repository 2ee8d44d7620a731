package bloom

import (
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/noescape"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/seed3447c163/bloom/internal/splitvec"
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

	// What Add and Contains need of the scheme, together.
	units  uint64 // what a digest selects among: blocks, or bits where there are no blocks
	seed   uint64 // what the hash begins with, see hasher.start
	k      uint8
	kernel strategyID
	hash   hashID

	scheme *scheme // shared with all filters that were made from it
}

// New returns an empty filter for n different keys with a false-positive rate of
// at most p once they are in. It takes about -1.44·n·log2(p) bits, see
// [ParamsFor].
//
// n = 0 makes the smallest filter there is, which never misses a key either. The error wraps
// [ErrInvalid] if p is not between 0 and 1 or too small to be kept, or the strategy is not
// valid, and [ErrTooLarge] if the machine has too little memory.
func New(n uint64, p float64, opts ...Option) (*BloomFilter, error) {
	s, err := NewScheme(n, p, opts...)
	if err != nil {
		return nil, err
	}
	return s.Filter()
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
// bits to a key, for instance because another system chose them. params.N and
// params.P say what they were chosen for; they may be zero, and are not checked
// against M and K.
//
// The error wraps [ErrInvalid] if M is 0, K is not in 1..64 (or as the strategy says),
// P is neither 0 nor between 0 and 1, or the strategy is not valid or cannot be had with
// these M and K, and [ErrTooLarge] if M is more than the strategy can have or the machine
// has memory for.
func NewWithParams(params Params, opts ...Option) (*BloomFilter, error) {
	s, err := NewSchemeWithParams(params, opts...)
	if err != nil {
		return nil, err
	}
	return s.Filter()
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
	var h1 uint64 // of a hash of 64 bits; the others leave here
	switch f.hash {
	case idRapidHash:
		if rapidhash.Inlines(len(key)) {
			h1 = rapidhash.Tail(rapidhash.Head(f.seed, key), key)
		} else {
			h1 = rapidhash.Sum(f.seed, key)
		}
	case idMapHash:
		h1 = maphash.Bytes(mapSeed, key)
	case idOwnHash64:
		h1 = f.scheme.hash.def.sum64(noescape.Slice(key))
	case idMurmur3:
		return f.AddDigest(murmur3.SeedSum128(f.seed, f.seed, key))
	case idOfKey:
		return f.addKey(key)
	default:
		return f.AddDigest(f.scheme.hash.sum(key))
	}
	if f.kernel == kernelSplitVectors {
		return splitvec.Add(f.bits.start(), f.units, h1)
	}
	if f.kernel == idBlocked2 { // blocked2Add without the call
		y, p := widen(h1)^probe.Xor, f.blockAt(h1)
		a0, a1 := wordAt(p, y>>62), wordAt(p, 4+y>>60&3)
		w0, w1 := atomic.LoadUint64(a0), atomic.LoadUint64(a1)
		m0, m1 := probe.Set2(w0, w1, y, y>>6)
		if k := f.k; k > 2 {
			m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
			if k > 4 {
				m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
				if k > 6 {
					m0, m1 = probe.More2(m0, m1, y, int(k))
				}
			}
		}
		return flipTwo(a0, a1, m0^w0, m1^w1)
	}
	return f.AddDigest(h1, widen(h1))
}

// AddString is [BloomFilter.Add] for a string, without copying it: a string and
// its bytes are the same key.
func (f *BloomFilter) AddString(key string) bool { return f.Add(bytesOf(key)) }

// AddDigest is [BloomFilter.Add] for a key whose digest is already known.
//
// A digest is 128 bits, all of which look random: two keys that differ have digests that
// are independent of each other, and so are the halves of one. It comes from
// [BloomFilter.Digest] of this or a compatible filter, or [Scheme.Digest]; from [Digest64],
// if what is known of a key is 64 bits, of whatever kind; or from a hash of 128 bits.
// Anything else breaks the promised rate: with (x, x) or (x, 0) most or all answers are
// true, and nothing warns.
//
// All keys of a filter must be hashed in the same way: Add hashes by the filter's own hash,
// and does not find what was added by the digests of another.
//
// It panics if the strategy needs the key itself, see [Strategy.NeedsKey].
func (f *BloomFilter) AddDigest(h1, h2 uint64) bool {
	switch f.kernel {
	case idDoubleHashing, kernelDoubleStraight:
		return doubleAdd(f, h1, h2)
	case idBlocked2:
		return blocked2Add(f, h1, h2)
	case idBlocked4:
		return blocked4Add(f, h1, h2)
	case idBlocked1:
		return blocked1Add(f, h1, h2)
	case idBlocked8:
		return blocked8Add(f, h1, h2)
	case kernelSplitVectors:
		return splitvec.Add(f.bits.start(), f.units, h1)
	case idSplitBlock:
		return splitAdd(f, h1)
	case idOwnPositions:
		return f.addPositions(h1, h2)
	}
	panic(f.misuse("AddDigest"))
}

// addKey adds a key for the strategies that need more than its digest.
func (f *BloomFilter) addKey(key []byte) bool {
	if f.kernel == idOwnKeyPositions {
		return f.addKeyPositions(key)
	}
	return seededAdd(f.bits, &f.scheme.divisor, int(f.k), f.seed, key)
}

// Contains returns false if the key was definitely never added, true if it
// probably was.
func (f *BloomFilter) Contains(key []byte) bool {
	var h1 uint64 // of a hash of 64 bits; the others leave here
	switch f.hash {
	case idRapidHash:
		if rapidhash.Inlines(len(key)) {
			h1 = rapidhash.Tail(rapidhash.Head(f.seed, key), key)
		} else {
			h1 = rapidhash.Sum(f.seed, key)
		}
	case idMapHash:
		h1 = maphash.Bytes(mapSeed, key)
	case idOwnHash64:
		h1 = f.scheme.hash.def.sum64(noescape.Slice(key))
	case idMurmur3:
		return f.ContainsDigest(murmur3.SeedSum128(f.seed, f.seed, key))
	case idOfKey:
		return f.containsKey(key)
	default:
		return f.ContainsDigest(f.scheme.hash.sum(key))
	}
	if f.kernel == kernelSplitVectors {
		return splitvec.Contains(f.bits.start(), f.units, h1)
	}
	if f.kernel == idBlocked2 { // blocked2Contains without the call
		y, p := widen(h1)^probe.Xor, f.blockAt(h1)
		w0, w1 := atomic.LoadUint64(wordAt(p, y>>62)), atomic.LoadUint64(wordAt(p, 4+y>>60&3))
		m0, m1 := probe.Set2(w0, w1, y, y>>6)
		if k := f.k; k == 6 { // as at 1 %
			m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
		} else if k > 2 {
			m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
			if k > 6 {
				m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
				m0, m1 = probe.More2(m0, m1, y, int(k))
			}
		}
		return (m0^w0)|(m1^w1) == 0
	}
	return f.ContainsDigest(h1, widen(h1))
}

// ContainsString is [BloomFilter.Contains] for a string, without copying it.
func (f *BloomFilter) ContainsString(key string) bool { return f.Contains(bytesOf(key)) }

// ContainsDigest is [BloomFilter.Contains] for a key whose digest is already known.
// It panics where [BloomFilter.AddDigest] does.
func (f *BloomFilter) ContainsDigest(h1, h2 uint64) bool {
	switch f.kernel {
	case idDoubleHashing, kernelDoubleStraight:
		return doubleContains(f, h1, h2)
	case idBlocked2:
		return blocked2Contains(f, h1, h2)
	case idBlocked4:
		return blocked4Contains(f, h1, h2)
	case idBlocked1:
		return blocked1Contains(f, h1, h2)
	case idBlocked8:
		return blocked8Contains(f, h1, h2)
	case kernelSplitVectors:
		return splitvec.Contains(f.bits.start(), f.units, h1)
	case idSplitBlock:
		return splitContains(f, h1)
	case idOwnPositions:
		return f.containsPositions(h1, h2)
	}
	panic(f.misuse("ContainsDigest"))
}

// containsKey asks for the strategies that need more than the digest.
func (f *BloomFilter) containsKey(key []byte) bool {
	if f.kernel == idOwnKeyPositions {
		return f.containsKeyPositions(key)
	}
	return seededContains(f.bits, &f.scheme.divisor, int(f.k), f.seed, key)
}

// misuse says what a call with a digest on a filter of this strategy did wrong.
func (f *BloomFilter) misuse(call string) string {
	if f.kernel == idNone {
		return "bloom: use of a BloomFilter that was not made by New"
	}
	return f.scheme.misuse(call)
}

// Hash returns the 128-bit digest of a key, to hash once and ask many filters
// with [BloomFilter.AddDigest] and [BloomFilter.ContainsDigest]. The digest serves
// every filter with the same hash and seed or key, whatever its size, and with any
// strategy that does not need the key itself. On a filter with one that does, it panics.
func (f *BloomFilter) Digest(key []byte) (h1, h2 uint64) { return f.scheme.orNone().digest(key) }

// DigestString is [BloomFilter.Digest] for a string, without copying it.
func (f *BloomFilter) DigestString(key string) (h1, h2 uint64) { return f.Digest(bytesOf(key)) }

// Params returns what the filter was made with.
func (f *BloomFilter) Params() Params { return f.scheme.orNone().params }

// Strategy returns the strategy that finds the keys' positions. For a filter made
// with [Blocked] it is the one of Blocked1 to Blocked8 that New chose.
func (f *BloomFilter) Strategy() Strategy { return f.scheme.orNone().strategy }

// SizeBytes returns the memory that the bits take.
func (f *BloomFilter) SizeBytes() uint64 { return uint64(len(f.bits)) * 8 }

// GoString is String: %#v would print all bits, and the secret key.
func (f BloomFilter) GoString() string { return f.String() }

// String describes the filter in a line for a log, in constant time.
func (f BloomFilter) String() string {
	s := f.scheme.orNone()
	return fmt.Sprintf("bloom.BloomFilter(n=%d p=%g m=%d k=%d strategy=%s hash=%s bytes=%d)",
		s.params.N, s.params.P, s.params.M, s.params.K, s.strategy, s.hash.def, f.SizeBytes())
}
