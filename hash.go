package bloom

import (
	"unsafe"

	"github.com/twmb/murmur3"
)

// hasher turns a key into its 128-bit digest. It is a struct with a direct call
// and not an interface: a key that crosses an interface escapes to the heap, and
// with it the caller's stack buffer.
type hasher struct {
	seed uint64
}

// sum is MurmurHash3 x64-128 with both halves of its state started at the seed.
// h1 is the first eight bytes of the canonical digest, little-endian, h2 the rest.
func (h hasher) sum(key []byte) (h1, h2 uint64) {
	return murmur3.SeedSum128(h.seed, h.seed, key)
}

// bytesOf views a string as bytes without the copy that a conversion makes.
// The result must not be written to, nor kept beyond the call it is made for.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
