// Package view looks up keys in filters inside byte slices, such as a block of a storage engine or
// a part of a mapped file, at any alignment, without copying or allocating. It also builds such
// filters. docs/embedding.md says which programs it is for.
package view

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/seed3447c163/bloom/internal/splitvec"
	"github.com/twmb/murmur3"
)

// A View looks up keys in a filter inside a byte slice, at any alignment. It is a value of a few
// words: making one copies nothing and allocates nothing. [New] makes views of bytes that a
// [Builder] wrote and that describe themselves, [Over] of any others.
//
// The bytes must not change while the View is used. All methods are safe for concurrent use. The
// methods of the zero View panic, except String.
type View struct { // of four words: a larger one is not kept in registers
	bits   unsafe.Pointer
	bytes  int          // of the bits
	scheme bloom.Scheme // zero if a trailer follows the bits
	meta   uint32       // k, strategy, hash as in a trailer, and noSeed; 0 for the zero View
}

// The trailer follows the bits: 8 bytes of seed; k, strategy, hash and version, a byte each; and a
// check of m and those 12. docs/format.md has it in full.
const (
	trailerBytes = 16
	version      = 1
	maxK         = 64

	double   = 1
	blocked1 = 2 // and 3 to 5 with z of 2, 4 and 8
	split    = 6

	otherHash   = 0
	murmur3Hash = 1
	rapidHash   = 2
)

// strategies are by their numbers in a trailer.
var strategies = [...]bloom.Strategy{
	double: bloom.DoubleHashing, blocked1: bloom.Blocked1, 3: bloom.Blocked2, 4: bloom.Blocked4, 5: bloom.Blocked8, split: bloom.SplitBlock,
}

// check finds damage, by one long multiplication; it does not stop a forger.
func check(m, seed uint64, meta uint32) uint32 {
	hi, lo := bits.Mul64(m*probe.Mul^seed^probe.Xor, uint64(meta)<<32^probe.Mul)
	x := hi ^ lo
	return uint32(x>>32 ^ x)
}

// New returns the view of data, which is exactly what [Builder.AppendTo] appended. New takes some
// nanoseconds, so that a View need not be kept.
//
// New checks the trailer and the length, against damage, not against forgers. It does not check the
// bits: keep a checksum of the whole, as stores do of their blocks. Whatever the bytes are, no
// method of the View reads outside of them or panics. A caller that cannot return an error, such as
// a store's filter policy, should answer true for bytes that are refused.
//
// The error wraps [bloom.ErrCorrupt] if data is not what a Builder wrote, and
// [bloom.ErrIncompatible] if it is of a later version.
func New(data []byte) (View, error) {
	if !valid(data) {
		return View{}, refusal(data)
	}
	n := len(data) - trailerBytes
	t := data[n:]
	return View{bits: unsafe.Pointer(unsafe.SliceData(data)), bytes: n, meta: binary.LittleEndian.Uint32(t[8:]) | seedless(binary.LittleEndian.Uint64(t))}, nil
}

// valid checks the length and the trailer.
func valid(data []byte) bool {
	n := len(data) - trailerBytes
	if n <= 0 {
		return false
	}
	t := data[n:]
	m, seed, meta := uint64(n)*8, binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:])
	if check(m, seed, meta) != binary.LittleEndian.Uint32(t[12:]) || meta>>24 != version || meta>>16&0xff > rapidHash {
		return false
	}
	k := meta & 0xff
	switch strategy := meta >> 8 & 0xff; strategy {
	case double:
		return k-1 < maxK
	case split:
		return n%splitBytes == 0 && k == 8 && m/(splitBytes*8) <= maxSplitBlocks
	default:
		z := uint32(1) << (strategy - blocked1)
		return strategy-blocked1 < 4 && n%blockBytes == 0 && k-1 < maxK && k&(z-1) == 0
	}
}

// refusal returns the error for data that is not valid.
func refusal(data []byte) error {
	if len(data) <= trailerBytes {
		return fmt.Errorf("%w: a view of %d bytes, want at least %d", bloom.ErrCorrupt, len(data), trailerBytes+1)
	}
	t := data[len(data)-trailerBytes:]
	meta, got := binary.LittleEndian.Uint32(t[8:]), binary.LittleEndian.Uint32(t[12:])
	want := check(uint64(len(data)-trailerBytes)*8, binary.LittleEndian.Uint64(t), meta)
	if t[11] > version && got == want {
		return fmt.Errorf("%w: a view of version %d, want %d", bloom.ErrIncompatible, t[11], version)
	}
	return fmt.Errorf("%w: a view of %d bits with trailer %x, whose check is to be %08x", bloom.ErrCorrupt, (len(data)-trailerBytes)*8, t, want)
}

// Over returns the view of a filter with this scheme whose bits are the given bytes: bit i is bit i%8
// of bits[i/8], as in the words of a file of [bloom.BloomFilter.WriteTo], whose scheme
// [bloom.ReadScheme] reads. Over copies and allocates nothing, and checks only the length. Use it
// instead of [bloom.Scheme.FilterOver] for bytes: words cast from bytes fault on ARM unless they are
// aligned.
//
// The error wraps [bloom.ErrInvalid] if there are not exactly SizeBytes bytes, or for a strategy
// other than [bloom.DoubleHashing], [bloom.Blocked] and [bloom.SplitBlock]; and
// [bloom.ErrNotPortable] for [bloom.MapHash], which differs in every process.
func Over(s bloom.Scheme, bits []byte) (View, error) {
	strategy, err := viewable(s)
	if err != nil {
		return View{}, err
	}
	if uint64(len(bits)) != s.SizeBytes() {
		return View{}, fmt.Errorf("%w: %d bytes, want %d for m = %d bits", bloom.ErrInvalid, len(bits), s.SizeBytes(), s.Params().M)
	}
	hash := numberOfHash(s.Hash())
	return View{unsafe.Pointer(unsafe.SliceData(bits)), len(bits), s, uint32(s.Params().K) | uint32(strategy)<<8 | uint32(hash)<<16 | seedless(s.Seed())}, nil
}

// viewable returns the strategy's number in a trailer.
func viewable(s bloom.Scheme) (uint8, error) {
	if s == (bloom.Scheme{}) {
		return 0, fmt.Errorf("%w: a view with the zero Scheme, want one of NewScheme", bloom.ErrInvalid)
	}
	if s.Hash() == bloom.MapHash {
		return 0, fmt.Errorf("%w: a view with hash %v, which differs in every process", bloom.ErrNotPortable, s.Hash())
	}
	strategy := numberOf(s)
	if strategy == 0 {
		return 0, fmt.Errorf("%w: a view with strategy %q, want DoubleHashing, Blocked or SplitBlock", bloom.ErrInvalid, s.Strategy())
	}
	return strategy, nil
}

// numberOf returns the strategy's number in a trailer, 0 if it has none.
func numberOf(s bloom.Scheme) uint8 {
	of := s.Strategy()
	for i := uint8(1); i < uint8(len(strategies)); i++ {
		if strategies[i] == of {
			return i
		}
	}
	return 0
}

// numberOfHash returns the hash's number in a trailer.
func numberOfHash(h bloom.Hash) uint8 {
	switch h {
	case bloom.Murmur3:
		return murmur3Hash
	case bloom.RapidHash:
		return rapidHash
	}
	return otherHash
}

// Contains is [bloom.BloomFilter.Contains]. It returns true for every key if the view has a trailer
// and was built with a hash other than [bloom.Murmur3] and [bloom.RapidHash], which a trailer does
// not name: use [View.ContainsDigest] for such views.
func (v View) Contains(key []byte) bool {
	var h1 uint64
	switch v.meta >> 16 & 0xff {
	case murmur3Hash:
		start := uint64(0)
		if v.meta&noSeed == 0 {
			start = probe.MurmurStart(v.seed())
		}
		return v.ContainsDigest(murmur3.SeedSum128(start, start, key))
	case rapidHash:
		state := rapidhash.Start(0)
		if v.meta&noSeed == 0 {
			state = rapidhash.Start(v.seed())
		}
		if rapidhash.Inlines(len(key)) {
			if splitvec.Has && v.meta>>8&0xff == split {
				return splitvec.ContainsRapid(v.bits, uint64(v.bytes)/splitBytes, state, unsafe.Pointer(unsafe.SliceData(key)), len(key))
			}
			h1 = rapidhash.Tail(rapidhash.Head(state, key), key)
		} else {
			h1 = rapidhash.Sum(state, key)
		}
	default:
		return v.containsOther(key)
	}
	if splitvec.Has && v.meta>>8&0xff == split {
		return splitvec.Contains(v.bits, uint64(v.bytes)/splitBytes, h1)
	}
	return v.ContainsDigest(h1, probe.Widen(h1))
}

// noSeed in meta says that the hash has no seed.
const noSeed = 1 << 31

func seedless(seed uint64) uint32 {
	if seed == 0 {
		return noSeed
	}
	return 0
}

// seed returns the seed of the hash.
func (v View) seed() uint64 {
	if v.scheme == (bloom.Scheme{}) {
		return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(v.bits, v.bytes))[:])
	}
	return v.scheme.Seed()
}

// containsOther is Contains for a hash that has no number in a trailer.
func (v View) containsOther(key []byte) bool {
	switch {
	case v.meta == 0:
		panic(zeroView)
	case v.scheme == (bloom.Scheme{}):
		return true
	}
	return v.ContainsDigest(v.scheme.Digest(key))
}

const zeroView = "view: use of the zero View: make one by New or Over"

// ContainsString is [View.Contains] for a string, without copying it.
func (v View) ContainsString(key string) bool {
	return v.Contains(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// String describes the view in one line, in constant time.
func (v View) String() string {
	switch {
	case v.meta == 0:
		return "view.View(zero)"
	case v.scheme != (bloom.Scheme{}):
		return fmt.Sprintf("view.View(%s bytes=%d)", v.scheme.Identity(), v.bytes)
	}
	hash := "other"
	switch v.meta >> 16 & 0xff {
	case murmur3Hash:
		hash = fmt.Sprintf("%s:%016x", bloom.Murmur3, v.seed())
	case rapidHash:
		hash = fmt.Sprintf("%s:%016x", bloom.RapidHash, v.seed())
	}
	return fmt.Sprintf("view.View(m=%d k=%d strategy=%q hash=%s bytes=%d)", v.bytes*8, v.meta&0xff, strategies[v.meta>>8&0xff], hash, v.bytes+trailerBytes)
}
