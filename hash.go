package bloom

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/twmb/murmur3"
)

// A Hash turns keys into 128-bit digests. Choose one with [WithHash]; for SipHash,
// which takes a secret, see [WithKey]. The zero Hash is none, and [New] refuses it.
//
// A Hash is a small value that never changes, and can be compared. A filter keeps its
// own, whatever is assigned to a variable afterwards.
type Hash struct{ def *hashDefinition }

// A hashDefinition is what a Hash stands for. It never changes.
type hashDefinition struct {
	id   hashID
	name string
}

// hashID picks the call that hashes. The numbers are frozen: append, never edit.
type hashID uint8

const (
	idMurmur3 hashID = iota
	idMapHash
	idSipHash

	// idOfKey is for strategies that take the key itself. It is in no file.
	idOfKey hashID = 255
)

var (
	// Murmur3 is MurmurHash3 x64-128: fast, the same everywhere and for ever, and
	// the default. It is not keyed: whoever chooses the keys can make them collide,
	// under every seed.
	Murmur3 = Hash{&murmur3Hash}

	// MapHash is the hash of the runtime's own maps (hash/maphash), under a random
	// seed that all filters of the process share. It is the fastest, and safe
	// against keys that an attacker chose, but its digests mean nothing outside
	// this process. It has 64 bits, so that p must stay well above n/2^64.
	MapHash = Hash{&mapHash}
)

var (
	murmur3Hash = hashDefinition{id: idMurmur3, name: "murmur3"}
	mapHash     = hashDefinition{id: idMapHash, name: "maphash"}
	sipHash     = hashDefinition{id: idSipHash, name: "siphash"} // with 128 bits out; WithKey chooses it
)

// Name returns the name that identifies the hash.
func (h Hash) Name() string {
	if h.def == nil {
		return ""
	}
	return h.def.name
}

// String returns the name, for logs.
func (h Hash) String() string { return h.Name() }

func (h Hash) validate() error {
	if h.def == nil {
		return fmt.Errorf("%w: the hash is the zero Hash, want one such as Murmur3", ErrInvalid)
	}
	if h.def == &sipHash {
		return fmt.Errorf("%w: hash %v has a secret key, want WithKey", ErrInvalid, h)
	}
	return nil
}

// mapSeed is one for the process, or no two filters could be united.
var mapSeed = maphash.MakeSeed()

// A hasher is a Hash with its seed or key. It is a struct with direct calls and
// not an interface: a key that crosses an interface escapes to the heap, and with
// it the caller's stack buffer.
type hasher struct {
	hash   *hashDefinition
	k0, k1 uint64 // the secret key of sipHash; k0 alone is the seed of Murmur3
}

func keyedHasher(key [16]byte) hasher {
	return hasher{hash: &sipHash, k0: binary.LittleEndian.Uint64(key[:8]), k1: binary.LittleEndian.Uint64(key[8:])}
}

// key returns the secret key of sipHash.
func (h *hasher) key() (key [16]byte) {
	binary.LittleEndian.PutUint64(key[:8], h.k0)
	binary.LittleEndian.PutUint64(key[8:], h.k1)
	return key
}

// sum returns the digest. For Murmur3, h1 is the first eight bytes of the
// canonical one, little-endian, and h2 the rest.
func (h *hasher) sum(key []byte) (h1, h2 uint64) {
	switch h.hash.id {
	case idMapHash:
		h1 = maphash.Bytes(mapSeed, key)
		return h1, widen(h1)
	case idSipHash:
		return siphash.Hash128(h.k0, h.k1, key)
	}
	return murmur3.SeedSum128(h.k0, h.k0, key)
}

// murmurSeed returns what Murmur3 is started at for a seed: the seed, but for 1 to
// 8. Murmur3 xors a key's length into both halves of its state, which begin
// as the seed, and of a key of at most 8 bytes only one half gets anything else. If
// seed and length cancel, the digest is (2x, 3x) of a single x, and Blocked's words
// follow from its blocks: with seed 8 and keys of 8 bytes its rate was 24 times p.
func murmurSeed(seed uint64) uint64 {
	if seed-1 < 8 {
		return seed ^ doubleXor
	}
	return seed
}

// widen makes the second half of a digest from a first half of 64 good bits. The
// multiplication makes the high half of the product depend on all bits of h1, and the
// rotation puts that half where the bits of a word are selected, so that h2 looks random
// even among keys whose h1 agree in their high bits, which are all that select a position
// or a block. The multiplier is not that of DoubleHashing, whose second position would
// otherwise be the sum of a number and its own rotation. The two halves of a product of
// 128 bits would do as well, for half a nanosecond more. BenchmarkContains.
func widen(h1 uint64) uint64 {
	return bits.RotateLeft64(h1*widenMul, 32) ^ doubleXor
}

const widenMul = 0xd6e8feb86659fd93

// collisions returns how likely a new key has the whole digest of one of n others,
// in which case no strategy can tell them apart.
func (h *hasher) collisions(n uint64) float64 {
	if h.hash == &mapHash {
		return float64(n) / (1 << 64)
	}
	return 0 // n/2^128
}

// bytesOf views a string as bytes without the copy that a conversion makes.
// The result must not be written to, nor kept beyond the call it is made for.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
