package bloom

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/twmb/murmur3"
)

// A View asks a filter that lies in memory as bytes, at any address: a block of a store's
// table, a part of a mapped file, a page of a column. It is a value of a few words: making
// one copies nothing and allocates nothing. Views are made by [NewView], of bytes that
// [ViewBuilder] wrote and that say themselves what they are, or by [Scheme.View].
//
// The bytes must not change for as long as the View is used. All methods are safe for
// concurrent use. The zero View has no keys.
type View struct {
	data   []byte  // the bits, and without a scheme the trailer
	scheme *scheme // nil if the trailer says it
}

// The trailer of a view, version 1, follows the bits. Numbers are little-endian; the last
// eight bytes keep their meaning in every version. docs/format.md.
//
//	offset  bytes  field
//	0       8      the seed of Murmur3, 0 with another hash
//	8       1      k: 1 to 64
//	9       1      strategy: 1 double-hashing, 2 to 5 blocked-1, -2, -4, -8, 6 split-block
//	10      1      hash: 1 Murmur3, 0 another, which the bytes do not name
//	11      1      version: 1
//	12      4      check of m and the 12 bytes before
const (
	viewTrailer = 16
	viewVersion = 1

	viewDouble   = 1
	viewBlocked1 = 2 // and 3 to 5 with z of 2, 4 and 8
	viewSplit    = 6

	viewOther   = 0
	viewMurmur3 = 1
)

// viewCheck finds damage, by one long multiplication; it does not stop who means to forge.
func viewCheck(m, seed uint64, meta uint32) uint32 {
	hi, lo := bits.Mul64(m*probe.Mul^seed^probe.Xor, uint64(meta)<<32^probe.Mul)
	x := hi ^ lo
	return uint32(x>>32 ^ x)
}

// NewView returns the filter that data ends with the trailer of: all of what [ViewBuilder]
// appended, and nothing more. It takes some nanoseconds, so that it need not be kept: make
// one for each question.
//
// What is checked is the trailer and the length, against damage, not against forgers; the
// bits are not. Keep a checksum of the whole, as stores do of their blocks. Whatever the
// bytes are, no method of the View reads outside of them or panics. Who has no error to
// return, as a policy of filters has, answers true, "perhaps", for bytes that are refused.
//
// The error wraps [ErrCorrupt] if data is not what a ViewBuilder wrote, and
// [ErrIncompatible] if it is of a later version.
func NewView(data []byte) (View, error) {
	if !viewOK(data) {
		return View{}, viewError(data)
	}
	return View{data: data}, nil
}

// viewOK decides by the length and the trailer alone.
func viewOK(data []byte) bool {
	n := len(data) - viewTrailer
	if n <= 0 {
		return false
	}
	t := data[n:]
	m, seed, meta := uint64(n)*8, binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:])
	if viewCheck(m, seed, meta) != binary.LittleEndian.Uint32(t[12:]) || meta>>24 != viewVersion || meta>>16&0xff > viewMurmur3 {
		return false
	}
	k := meta & 0xff
	switch strategy := meta >> 8 & 0xff; strategy {
	case viewDouble:
		return k-1 < maxK
	case viewSplit:
		return n%(splitBits/8) == 0 && k == splitK && m/splitBits <= maxSplitBlocks
	default:
		z := uint32(1) << (strategy - viewBlocked1)
		return strategy-viewBlocked1 < 4 && n%(blockBits/8) == 0 && k-1 < maxK && k&(z-1) == 0
	}
}

// viewError says what is wrong with data that is refused.
func viewError(data []byte) error {
	if len(data) <= viewTrailer {
		return fmt.Errorf("%w: a view of %d bytes, want at least %d", ErrCorrupt, len(data), viewTrailer+1)
	}
	t := data[len(data)-viewTrailer:]
	meta, check := binary.LittleEndian.Uint32(t[8:]), binary.LittleEndian.Uint32(t[12:])
	want := viewCheck(uint64(len(data)-viewTrailer)*8, binary.LittleEndian.Uint64(t), meta)
	if t[11] > viewVersion && check == want {
		return fmt.Errorf("%w: a view of version %d, want %d", ErrIncompatible, t[11], viewVersion)
	}
	return fmt.Errorf("%w: a view of %d bits with trailer %x, whose check is to be %08x", ErrCorrupt, (len(data)-viewTrailer)*8, t, want)
}

// View returns the filter with this scheme whose bits are the given bytes: bit i is bit i%8
// of bits[i/8], as in the words of a file of [BloomFilter.WriteTo], whose scheme
// [ReadScheme] has. Nothing is copied or allocated, and nothing is checked but the length.
// For bytes it is also right where [Scheme.FilterOver] is not: words that are cast from
// bytes work on amd64, and fault on ARM where they are not aligned.
//
// The error wraps [ErrInvalid] if there are not exactly SizeBytes bytes, or for a strategy
// other than [DoubleHashing], [Blocked] and [SplitBlock]; and [ErrNotPortable] for [MapHash], whose bits
// mean nothing where others have written them.
func (s Scheme) View(bits []byte) (View, error) {
	o := s.scheme.orNone()
	if err := o.viewable(); err != nil {
		return View{}, err
	}
	if uint64(len(bits)) != s.SizeBytes() {
		return View{}, fmt.Errorf("%w: %d bytes, want %d for m = %d bits", ErrInvalid, len(bits), s.SizeBytes(), o.params.M)
	}
	return View{bits, s.scheme}, nil
}

func (s *scheme) viewable() error {
	if s.viewStrategy() == 0 {
		return fmt.Errorf("%w: a view with strategy %q, want DoubleHashing, Blocked or SplitBlock", ErrInvalid, s.strategy)
	}
	if s.hash.hash.id == idMapHash {
		return fmt.Errorf("%w: a view with hash %v, which means nothing to other processes", ErrNotPortable, s.hash.hash.name)
	}
	return nil
}

// viewStrategy returns the strategy's number in a trailer, 0 if it has none.
func (s *scheme) viewStrategy() byte {
	switch z := s.strategy.groups(); {
	case s.strategy.id() == idDoubleHashing:
		return viewDouble
	case z > 0:
		return viewBlocked1 + byte(bits.Len(uint(z))) - 1
	case s.strategy.id() == idSplitBlock:
		return viewSplit
	}
	return 0
}

// Contains is [BloomFilter.Contains]. It is true, as nobody can tell, for every key if the
// view has a trailer and was built with another hash than [Murmur3]: there, ask by
// [View.ContainsHash].
func (v View) Contains(key []byte) bool {
	if v.scheme != nil {
		return v.ContainsHash(v.scheme.hash.sum(key))
	}
	n := len(v.data) - viewTrailer
	if n < 0 {
		return false
	}
	switch seed := binary.LittleEndian.Uint64(v.data[n:]); {
	case v.data[n+10] != viewMurmur3:
		return true
	case seed != 0:
		return v.ContainsHash(murmur3.SeedSum128(seed, seed, key))
	}
	return v.ContainsHash(murmur3.Sum128(key)) // which need not wait for the seed
}

// ContainsString is [View.Contains] for a string, without copying it.
func (v View) ContainsString(key string) bool { return v.Contains(bytesOf(key)) }

// SizeBytes returns how many bytes the view lies in, with its trailer.
func (v View) SizeBytes() uint64 { return uint64(len(v.data)) }

// String describes the view in a line for a log, in constant time.
func (v View) String() string {
	n := len(v.data) - viewTrailer
	switch {
	case v.scheme != nil:
		return fmt.Sprintf("bloom.View(%s bytes=%d)", v.scheme.identity(), len(v.data))
	case n < 0:
		return "bloom.View()"
	}
	t := v.data[n:]
	hash := "other"
	if t[10] == viewMurmur3 {
		hash = fmt.Sprintf("murmur3:%016x", binary.LittleEndian.Uint64(t))
	}
	return fmt.Sprintf("bloom.View(m=%d k=%d strategy=%q hash=%s bytes=%d)", n*8, t[8], viewNames[t[9]], hash, len(v.data))
}

// GoString is String: %#v would print all bytes.
func (v View) GoString() string { return v.String() }

// viewNames are the strategies by their numbers in a trailer.
var viewNames = [...]string{viewDouble: "double-hashing", viewBlocked1: "blocked-1", 3: "blocked-2", 4: "blocked-4", 5: "blocked-8", viewSplit: "split-block"}
