// Package view implements filters inside byte slices, such as a block of a storage engine, a part of a
// mapped file or a message, at any alignment, without copying or allocating.
//
//	w, err := view.NewWriter(10, bloom.DoubleHashing) // 10 bits per key: a rate of 0.8 %
//	if err != nil {
//		return err
//	}
//	for _, key := range keys {
//		w.Add(key)
//	}
//	start := len(block)
//	block = w.AppendTo(block) // the bits, and 16 bytes that describe them
//
//	v, err := view.Parse(block[start:])
//	if err != nil {
//		return err
//	}
//	found := v.Contains(key)
//
// [Writer.Append] makes a filter for a known number of keys. [Over] and [Attach] work on bits that
// are described elsewhere, by a [bloom.Scheme]. [docs/guide.md] has rules for storage engines,
// [docs/formats.md] the format.
//
// [docs/guide.md]: https://github.com/seed3447c163/bloom/blob/main/docs/guide.md#embedding
// [docs/formats.md]: https://github.com/seed3447c163/bloom/blob/main/docs/formats.md#views
package view

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/seed3447c163/bloom/internal/vector"
	"github.com/twmb/murmur3"
)

// A View looks up keys in a filter inside a byte slice, at any alignment. It is a value of a few
// words: making one copies nothing and allocates nothing. [Parse] makes views of bytes that a
// [Writer] wrote and that describe themselves, [Over] of any others. To add keys, see [Filter].
//
// The bytes must not change while the View is used. All methods are safe for concurrent use. The
// methods of the zero View panic, except String and LogValue.
type View struct { // of four words: a larger one is not kept in registers
	bits   unsafe.Pointer
	bytes  int          // of the bits
	scheme bloom.Scheme // zero if a trailer follows the bits
	meta   uint32       // k, strategy, hash as in a trailer, and noSeed; 0 for the zero View
}

// The trailer follows the bits: 8 bytes of seed; k, strategy, hash and version, a byte each; and a
// check of m and those 12. docs/formats.md has it in full.
const (
	trailerBytes = 16
	version      = 2
	maxK         = 64

	double  = 1
	blocked = 2
	split   = 3

	murmur3Hash = 1
	rapidHash   = 2

	other = 0xff // another strategy or hash, in no trailer
)

// strategies and hashes are by their numbers in a trailer.
var (
	strategies = [...]bloom.Strategy{double: bloom.DoubleHashing, blocked: bloom.Blocked, split: bloom.SplitBlock}
	units      = [...]int{double: 1, blocked: blockBytes, split: splitBytes} // what the bytes are a multiple of
	hashes     = [...]bloom.Hash{murmur3Hash: bloom.Murmur3, rapidHash: bloom.RapidHash}
)

// check finds damage, by one long multiplication; it does not stop a forger.
func check(m, seed uint64, meta uint32) uint32 {
	hi, lo := bits.Mul64(m*probe.Mul^seed^probe.Xor, uint64(meta)<<32^probe.Mul)
	x := hi ^ lo
	return uint32(x>>32 ^ x)
}

// Parse returns a view of data. data must be exactly what a [Writer] appended. Parse takes some
// nanoseconds, so that a View need not be kept.
//
// Parse checks the trailer and the length, against damage, not against forgers. It does not check the
// bits: keep a checksum of the whole, as stores do of their blocks. Whatever the bytes are, no
// method of the View reads outside of them or panics. A caller that cannot return an error, such as
// a store's filter policy, should answer true for bytes that are refused.
//
// The error wraps [bloom.ErrCorrupt] if data is not what a Writer wrote, and
// [bloom.ErrIncompatible] if it is of another version.
func Parse(data []byte) (View, error) {
	if !valid(data) {
		return View{}, refusal(data)
	}
	return viewOf(data), nil
}

// viewOf returns the view of bytes that end with a valid trailer.
func viewOf(data []byte) View {
	n := len(data) - trailerBytes
	t := data[n:]
	meta := binary.LittleEndian.Uint32(t[8:]) | seedless(binary.LittleEndian.Uint64(t))
	return View{bits: unsafe.Pointer(unsafe.SliceData(data)), bytes: n, meta: meta}
}

// valid checks the length and the trailer.
func valid(data []byte) bool {
	n := len(data) - trailerBytes
	if n <= 0 {
		return false
	}
	t := data[n:]
	m, seed, meta := uint64(n)*8, binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:])
	if check(m, seed, meta) != binary.LittleEndian.Uint32(t[12:]) || meta>>24 != version || meta>>16&0xff-1 >= rapidHash {
		return false
	}
	k := meta & 0xff
	switch meta >> 8 & 0xff {
	case double:
		return k-1 < maxK
	case blocked:
		return n%blockBytes == 0 && k-1 < maxK && k%2 == 0
	case split:
		return n%splitBytes == 0 && k == 8 && m/(splitBytes*8) <= maxSplitBlocks
	}
	return false
}

// refusal returns the error for data that is not valid.
func refusal(data []byte) error {
	if len(data) <= trailerBytes {
		return failure.Errorf(bloom.ErrCorrupt, "a view of %d bytes, want at least %d", len(data), trailerBytes+1)
	}
	t := data[len(data)-trailerBytes:]
	meta, got := binary.LittleEndian.Uint32(t[8:]), binary.LittleEndian.Uint32(t[12:])
	want := check(uint64(len(data)-trailerBytes)*8, binary.LittleEndian.Uint64(t), meta)
	if t[11] != version && got == want {
		return failure.Errorf(bloom.ErrIncompatible, "a view of version %d, want %d", t[11], version)
	}
	return failure.Errorf(bloom.ErrCorrupt, "bad trailer %x: check %08x, want %08x for %d bits", t, got, want, (len(data)-trailerBytes)*8)
}

// Over returns the view of a filter with this scheme whose bits are the given bytes: bit i is bit i%8
// of bits[i/8], as in the words of a file of [bloom.BloomFilter.WriteTo], whose scheme
// [bloom.ReadScheme] reads. Over copies and allocates nothing, and checks only the length. Use it
// instead of [bloom.Scheme.FilterOver] for bytes: words cast from bytes fault on ARM unless they are
// aligned. Strategies other than [bloom.DoubleHashing], [bloom.Blocked] and [bloom.SplitBlock] are
// slower than in a filter.
//
// The error wraps [bloom.ErrInvalid] if the bytes are neither as many as m bits need nor as many as
// SizeBytes, and [bloom.ErrNotPortable] for [bloom.MapHash], which differs in every process.
func Over(s bloom.Scheme, bits []byte) (View, error) {
	switch {
	case s == (bloom.Scheme{}):
		return View{}, failure.Errorf(bloom.ErrInvalid, "a view with the zero Scheme, want one of NewScheme")
	case s.Hash() == bloom.MapHash:
		return View{}, failure.Errorf(bloom.ErrNotPortable, "a view with hash %v, which differs in every process", s.Hash())
	}
	m := s.Params().M
	if least := (m-1)/8 + 1; uint64(len(bits)) != least && uint64(len(bits)) != s.SizeBytes() {
		return View{}, failure.Errorf(bloom.ErrInvalid, "%d bytes, want %d or %d for m = %d bits", len(bits), least, s.SizeBytes(), m)
	}
	meta := metaOf(s)
	if len(bits)%8 != 0 {
		meta |= other << 8 // the kernels read whole words
	}
	return View{bits: unsafe.Pointer(unsafe.SliceData(bits)), bytes: len(bits), scheme: s, meta: meta | seedless(s.Seed())}, nil
}

// metaOf returns k and the numbers of strategy and hash, as in a trailer.
func metaOf(s bloom.Scheme) uint32 {
	return uint32(s.Params().K) | numberIn(strategies[:], s.Strategy())<<8 | numberIn(hashes[:], s.Hash())<<16
}

func numberIn[T comparable](list []T, of T) uint32 {
	if i := slices.Index(list[1:], of); i >= 0 {
		return uint32(i) + 1
	}
	return other
}

// Contains is [bloom.BloomFilter.Contains].
func (v View) Contains(key []byte) bool {
	b := vector.Bits{Words: v.bits, K: int(v.meta & 0xff)}
	hash := vector.Murmur
	switch v.meta >> 16 & 0xff {
	case murmur3Hash:
		if v.meta&noSeed == 0 {
			b.State = probe.MurmurStart(v.seed())
		}
	case rapidHash:
		hash, b.State = vector.Rapid, rapidhash.Start(0)
		if v.meta&noSeed == 0 {
			b.State = rapidhash.Start(v.seed())
		}
	case other:
		return v.containsOther(key)
	}
	if len(key) < vector.Lengths {
		if row := v.kernels(hash, &b); row != nil {
			return vector.Contains(&b, unsafe.Pointer(unsafe.SliceData(key)), len(key), row)
		}
	}
	return v.ContainsDigest(v.digest(key))
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

// digest hashes a key.
func (v View) digest(key []byte) (h1, h2 uint64) {
	switch v.meta >> 16 & 0xff {
	case murmur3Hash:
		start := probe.MurmurStart(v.seed())
		return murmur3.SeedSum128(start, start, key)
	case rapidHash:
		h1 = rapidhash.Sum(rapidhash.Start(v.seed()), key)
		return h1, probe.Widen(h1)
	case other:
		return v.scheme.Digest(key)
	}
	panic(zeroView)
}

// containsOther is Contains for a hash that has no number in a trailer.
func (v View) containsOther(key []byte) bool {
	if v.scheme.Strategy().NeedsKey() {
		var room [maxK]uint64
		for _, pos := range v.scheme.AppendPositions(room[:0], key) {
			if bitInBytes(v.bits, pos) == 0 {
				return false
			}
		}
		return true
	}
	return v.ContainsDigest(v.digest(key))
}

const zeroView = "view: use of the zero View: make one by Parse or Over"

// ContainsString is [View.Contains] for a string, without copying it.
func (v View) ContainsString(key string) bool {
	return v.Contains(memory.BytesOf(key))
}

// String describes the view in one line, in constant time.
func (v View) String() string {
	switch {
	case v.meta == 0:
		return "view.View(zero)"
	case v.scheme != (bloom.Scheme{}):
		return fmt.Sprintf("view.View(%s bytes=%d)", v.scheme.String(), v.bytes)
	}
	return fmt.Sprintf("view.View(m=%d k=%d strategy=%q hash=%s:%016x bytes=%d)",
		v.bytes*8, v.meta&0xff, strategies[v.meta>>8&0xff], hashes[v.meta>>16&0xff], v.seed(), v.bytes+trailerBytes)
}

// LogValue is String, for package log/slog.
func (v View) LogValue() slog.Value { return slog.StringValue(v.String()) }
