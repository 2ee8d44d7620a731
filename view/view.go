// Package view implements filters inside byte slices, at any alignment, without copying or allocating. The slice may be
// a block of a storage engine, a part of a mapped file, or a message.
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
// [Over] uses bits without a trailer, with a given [bloom.Scheme], and adds keys to them in place. [Parse] has rules
// for storage engines, [docs/spec.md] describes the format. [examples/embedding] is a filter policy for pebble.
//
// [docs/spec.md]: https://github.com/seed3447c163/bloom/blob/main/docs/spec.md#views
// [examples/embedding]: https://github.com/seed3447c163/bloom/tree/main/examples/embedding
package view

import (
	"encoding/binary"
	"errors"
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

// A View looks up keys in a filter inside a byte slice, at any alignment. It is a value of four words: making one
// copies nothing and allocates nothing. [Parse] makes a View of bytes that a [Writer] wrote. [Over] makes one of bits
// without a trailer, for any scheme. To add keys, see [Filter].
//
// The bytes must not change while the View is used. All methods are safe for concurrent use. The
// methods of the zero View panic, except String and LogValue.
type View struct { // four words, because a larger value is not kept in registers
	bits   unsafe.Pointer
	bytes  int           // of the bits
	scheme *bloom.Scheme // nil if a trailer follows the bits
	meta   uint32        // k, strategy and hash as in a trailer, and noSeed; 0 for the zero View
}

// The trailer follows the bits: the seed, 8 bytes; k, strategy, hash and version, 1 byte each; and a checksum of m and
// these 12 bytes, 4 bytes. See docs/spec.md.
const (
	trailerBytes = 16
	version      = 2
	maxK         = 64

	double  = 1
	blocked = 2
	split   = 3

	murmur3Hash = 1
	rapidHash   = 2

	other = 0xff // a strategy or hash that no trailer can have
)

// strategies and hashes are indexed by their numbers in a trailer.
var (
	strategies = [...]bloom.Strategy{double: bloom.DoubleHashing, blocked: bloom.Blocked, split: bloom.SplitBlock}
	units      = [...]int{double: 1, blocked: blockBytes, split: splitBytes} // the number of bytes is a multiple of the unit
	hashes     = [...]*bloom.Hash{murmur3Hash: bloom.Murmur3, rapidHash: bloom.RapidHash}
)

// check returns a checksum, by one long multiplication. It detects damage, not forgery.
func check(m, seed uint64, meta uint32) uint32 {
	hi, lo := bits.Mul64(m*probe.Mul^seed^probe.Xor, uint64(meta)<<32^probe.Mul)
	x := hi ^ lo
	return uint32(x>>32 ^ x)
}

// Parse returns a view of data. data must be exactly the bytes that a [Writer] appended. A call takes some nanoseconds,
// so a View need not be kept.
//
// Parse checks the trailer and the length. It detects damage of these, not forgery. It does not check the bits: keep a
// checksum of the whole, as storage engines do for their blocks. Whatever the bytes are, no method of the View reads
// outside of them or panics. A caller that cannot return an error, such as a filter policy of a storage engine, should
// answer true for bytes that Parse refuses.
//
// The error wraps [bloom.ErrCorrupt] if data is not what a Writer wrote, and
// [bloom.ErrIncompatible] if it is of another version.
func Parse(data []byte) (View, error) {
	if !valid(data) {
		return View{}, refusal(data)
	}
	return viewOf(data), nil
}

// viewOf returns the view of data, which ends with a valid trailer.
func viewOf(data []byte) View {
	n := len(data) - trailerBytes
	t := data[n:]
	meta := binary.LittleEndian.Uint32(t[8:]) | seedless(binary.LittleEndian.Uint64(t))
	return View{bits: unsafe.Pointer(unsafe.SliceData(data)), bytes: n, meta: meta}
}

// valid reports whether the length and the trailer are right.
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

// Over returns the filter with this scheme and the given bits: bit i is bit i%8 of bits[i/8], as in a file of
// [bloom.BloomFilter.WriteTo]. Zero bytes are an empty filter. [bloom.ReadScheme] reads the scheme of such a file. Only
// methods that add keys write to the bytes: for lookups, they may be read-only memory. Over copies and allocates
// nothing, and checks only the length. For bytes, use it instead of [bloom.Scheme.FilterOver]: words cast from
// unaligned bytes fault on ARM. Strategies other than [bloom.DoubleHashing], [bloom.Blocked] and [bloom.SplitBlock] are
// slower than in a BloomFilter.
//
// The error wraps [bloom.ErrInvalid] if the number of bytes is neither m/8, rounded up, nor SizeBytes. It wraps
// [bloom.ErrNotPortable] for [bloom.MapHash], because that hash differs in every process.
func Over(s *bloom.Scheme, bits []byte) (Filter, error) {
	switch {
	case errors.Is(s.Portable(), bloom.ErrInvalid): // nil or the zero Scheme
		return Filter{}, failure.Errorf(bloom.ErrInvalid, "a view without a Scheme, want one of NewScheme")
	case s.Hash() == bloom.MapHash:
		return Filter{}, failure.Errorf(bloom.ErrNotPortable, "a view with hash %v, which differs in every process", s.Hash())
	}
	m := s.Params().M
	if least := (m-1)/8 + 1; uint64(len(bits)) != least && uint64(len(bits)) != s.SizeBytes() {
		return Filter{}, failure.Errorf(bloom.ErrInvalid, "%d bytes, want %d or %d for m = %d bits", len(bits), least, s.SizeBytes(), m)
	}
	meta := metaOf(s)
	if len(bits)%8 != 0 {
		meta |= other << 8 // prevents kernels in assembly, because these read whole words
	}
	return Filter{View{bits: unsafe.Pointer(unsafe.SliceData(bits)), bytes: len(bits), scheme: s, meta: meta | seedless(s.Seed())}}, nil
}

// metaOf returns k and the numbers of the strategy and the hash, as in a trailer.
func metaOf(s *bloom.Scheme) uint32 {
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
			return vector.DoKey(&b, unsafe.Pointer(unsafe.SliceData(key)), len(key), row.One[vector.Look])
		}
	}
	return v.ContainsDigest(v.digest(key))
}

// noSeed in meta means that the seed is 0. A lookup then need not load it from the trailer.
const noSeed = 1 << 31

func seedless(seed uint64) uint32 {
	if seed == 0 {
		return noSeed
	}
	return 0
}

// seed returns the seed of the hash.
func (v View) seed() uint64 {
	if v.scheme == nil {
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

// containsOther is Contains for a hash that trailers cannot name, such as a custom one.
func (v View) containsOther(key []byte) bool {
	if v.scheme.Strategy().NeedsKey() {
		var room [maxK]uint64
		return v.have(v.scheme.AppendPositions(room[:0], key))
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
	case v.scheme != nil:
		return fmt.Sprintf("view.View(%s bytes=%d)", v.scheme.String(), v.bytes)
	}
	return fmt.Sprintf("view.View(m=%d k=%d strategy=%q hash=%s:%016x bytes=%d)",
		v.bytes*8, v.meta&0xff, strategies[v.meta>>8&0xff], hashes[v.meta>>16&0xff], v.seed(), v.bytes+trailerBytes)
}

// LogValue returns what String returns, for package log/slog.
func (v View) LogValue() slog.Value { return slog.StringValue(v.String()) }
