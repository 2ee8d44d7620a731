package bloom

import (
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/seed3447c163/bloom/internal/vector"
	"github.com/twmb/murmur3"
)

// A BloomFilter is a set of keys that answers "definitely not in the set" or
// "probably in the set". Make one with [New] or [Read].
//
// The zero BloomFilter is only for [BloomFilter.UnmarshalBinary] and [BloomFilter.UnmarshalText], which read a filter
// into it. Its other methods return an error that wraps [ErrInvalid], or panic if they return no error. Scheme, String,
// GoString and LogValue do neither.
//
// A copy by assignment, as in g := *f, shares the bits of the original: use [BloomFilter.Clone].
//
// All methods are safe for concurrent use by multiple goroutines, except UnmarshalBinary and UnmarshalText. Add and
// Contains take no lock and allocate nothing.
type BloomFilter struct {
	kernelArgs
	kernel *kernel // nil for the zero filter, and for a strategy that hashes the key itself
	hash   *Hash   // copy of scheme.hash
	scheme *Scheme // shared with all filters that were made from it

	// Kernels in assembly, nil if there are none. byKey takes keys, byDigest takes digests. faster[op] is byDigest if
	// it is faster than Go code for this operation.
	byKey, byDigest *vector.Row
	faster          [2]*vector.Row

	lengths int32 // byKey takes keys of fewer bytes than this; 0 if byKey is nil
	usesH2  bool  // false for SplitBlock: with MapHash, do then need not compute h2, which saves up to 4 %
}

// New returns an empty filter whose expected false-positive rate is at most p with up to n
// different keys. It takes about -1.44·n·log2(p) bits, see [NewScheme].
//
// n = 0 makes the smallest filter. The error wraps [ErrInvalid] if p is not between 0 and 1 or is too small for the
// strategy, or if an option is invalid. It wraps [ErrTooLarge] if the bits need more memory than the machine has or
// [WithMaxBytes] allows. [ParamsForBits] computes the best filter of a given size.
func New(n uint64, p float64, opts ...Option) (*BloomFilter, error) {
	s, err := NewScheme(n, p, opts...)
	if err != nil {
		return nil, err
	}
	return s.Filter()
}

// MustNew is [New] for constant parameters: it panics instead of returning an error.
func MustNew(n uint64, p float64, opts ...Option) *BloomFilter {
	f, err := New(n, p, opts...)
	if err != nil {
		panic(err)
	}
	return f
}

// Add adds a key. It returns true if the key is definitely new and this call is the one that
// added it, false if it was probably there already.
//
// If several goroutines add the same new key at the same time, at most one gets true. Exactly one does, unless the add
// of another key sets this key's last unset bit at that moment. Then the key is a false positive, and no call gets
// true.
//
// Once Add has returned, every later Contains of the key is true. A key cannot be removed: if the
// work for a new key fails, note that elsewhere, or add the key after the work.
func (f *BloomFilter) Add(key []byte) bool {
	return f.do(key, vector.Add)
}

// AddString is [BloomFilter.Add] for a string, without copying it: a string and its bytes are
// the same key.
func (f *BloomFilter) AddString(key string) bool { return f.Add(memory.BytesOf(key)) }

// AddDigest is [BloomFilter.Add] for a key whose digest is already known.
//
// A digest is 128 bits that look random. Its halves are independent of each other, and so are the digests of different
// keys. Take it from [Scheme.Digest] of this or a compatible filter, from [Digest64] if 64 bits identify a key, or from
// a 128-bit hash. Other values, such as (x, x) or (x, 0), cause no error, but most or all answers may be true.
//
// All keys of a filter must be hashed in the same way: Contains uses the filter's own hash, and does not find keys with
// digests of another hash.
//
// It panics if the strategy needs the key itself, see [Strategy.NeedsKey].
func (f *BloomFilter) AddDigest(h1, h2 uint64) bool {
	row := f.faster[vector.Add]
	switch {
	case row != nil:
		return vector.DoDigest(f.vector(), h1, h2, row.One[vector.Add])
	case f.kernel == nil:
		panic(f.scheme.misuse("AddDigest"))
	}
	return f.kernel.add(&f.kernelArgs, h1, h2)
}

// Contains returns false if the key was definitely never added, true if it probably was.
func (f *BloomFilter) Contains(key []byte) bool {
	return f.do(key, vector.Look)
}

// ContainsString is [BloomFilter.Contains] for a string, without copying it.
func (f *BloomFilter) ContainsString(key string) bool { return f.Contains(memory.BytesOf(key)) }

// ContainsDigest is [BloomFilter.Contains] for a key whose digest is already known.
// It panics where [BloomFilter.AddDigest] does.
func (f *BloomFilter) ContainsDigest(h1, h2 uint64) bool {
	row := f.faster[vector.Add] // where Go code adds faster, it looks up as fast
	switch {
	case row != nil:
		return vector.DoDigest(f.vector(), h1, h2, row.One[vector.Look])
	case f.kernel == nil:
		panic(f.scheme.misuse("ContainsDigest"))
	}
	return f.kernel.contains(&f.kernelArgs, h1, h2)
}

// do hashes a key, then adds it or looks it up. It calls the hashes directly, not through sum: that saves up to a fifth
// of the time. See BenchmarkContains.
func (f *BloomFilter) do(key []byte, op vector.Op) bool {
	if start := unsafe.Pointer(unsafe.SliceData(key)); vector.Built && len(key) < int(f.lengths) {
		return vector.DoKey(f.vector(), start, len(key), f.byKey.One[op&1])
	}
	if vector.Built && f.hash == &mapHash && f.byDigest != nil {
		h1, row := maphash.Bytes(mapSeed, key), f.faster[op&1]
		if row == nil {
			return f.kernel.add(&f.kernelArgs, h1, probe.Widen(h1))
		}
		h2 := uint64(0)
		if f.usesH2 {
			h2 = probe.Widen(h1)
		}
		return vector.DoDigest(f.vector(), h1, h2, row.One[op&1])
	}
	var h1, h2 uint64
	switch f.hash {
	case &rapidHash:
		if rapidhash.Inlines(len(key)) {
			h1, h2 = widened(rapidhash.Tail(rapidhash.Head(f.state, key), key))
		} else {
			h1, h2 = widened(rapidhash.Sum(f.state, key))
		}
	case &mapHash:
		h1, h2 = widened(maphash.Bytes(mapSeed, key))
	case &murmur3Hash:
		h1, h2 = murmur3.SeedSum128(f.state, f.state, key)
	case &noHash, nil:
		return f.doKey(memory.NoEscape(key), op)
	default:
		h1, h2 = f.scheme.sumKey(memory.NoEscape(key))
	}
	row := f.faster[op&1]
	switch {
	case row != nil:
		return vector.DoDigest(f.vector(), h1, h2, row.One[op&1])
	case op == vector.Add:
		return f.kernel.add(&f.kernelArgs, h1, h2)
	}
	return f.kernel.contains(&f.kernelArgs, h1, h2)
}

// doKey does the work of do for a strategy that hashes the key itself.
func (f *BloomFilter) doKey(key []byte, op vector.Op) bool {
	code := f.scheme.must().kernel
	if op == vector.Add {
		return code.addKey(&f.kernelArgs, key)
	}
	return code.containsKey(&f.kernelArgs, key)
}

// Params returns n, p, m and k of the filter; n and p are 0 if unknown.
func (f *BloomFilter) Params() Params { return f.scheme.must().params }

// Scheme returns the filter's parameters, strategy and hash: nil for the zero BloomFilter.
func (f *BloomFilter) Scheme() *Scheme { return f.scheme }

// SizeBytes returns the number of bytes that the bits take.
func (f *BloomFilter) SizeBytes() uint64 {
	f.scheme.must()
	return uint64(len(f.bits)) * 8
}

// Words returns the filter's bits themselves, not a copy: bit i is bit i%64 of word i/64. Use it to write them in
// another format. Reading them is safe at any time. Changing them can cause false negatives.
func (f *BloomFilter) Words() []atomic.Uint64 {
	f.scheme.must()
	return f.bits
}

// LogValue returns what String returns. Without it, package log/slog would write all bits.
func (f BloomFilter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// GoString returns what String returns. Without it, %#v would print all bits.
func (f BloomFilter) GoString() string { return f.String() }

// String describes the filter in a line for a log, in constant time.
func (f BloomFilter) String() string {
	s := f.scheme
	if s == nil {
		return "bloom.BloomFilter(zero)"
	}
	return fmt.Sprintf("bloom.BloomFilter(n=%d p=%g m=%d k=%d strategy=%s hash=%s bytes=%d)",
		s.params.N, s.params.P, s.params.M, s.params.K, s.strategy, s.hash, f.SizeBytes())
}
