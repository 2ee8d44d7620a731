package bloom

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/noescape"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/twmb/murmur3"
)

// A Hash turns keys into 128-bit digests. Choose one with [WithHash]: Murmur3, RapidHash, MapHash,
// or a custom hash from [NewHash] or [NewHash64]. For SipHash, see [WithKey]. [New] refuses the
// zero Hash, whose name is empty.
//
// A Hash is a small value that never changes, and can be compared.
type Hash struct{ def *hashDefinition }

var (
	// Murmur3 is MurmurHash3 x64-128: fast, the same everywhere and in every
	// release, and the default. It is not keyed: an attacker who chooses the keys can
	// make them collide, under every seed.
	Murmur3 = Hash{&murmur3Hash}

	// RapidHash is rapidhash V3. Like Murmur3, it is the same everywhere and in every release, and
	// not keyed. On amd64 it is the fastest hash for keys of up to 48 bytes, and about as fast as
	// MapHash for longer keys. It has 64 bits, from which a digest is made as in [NewHash64], so p
	// must be well above n/2^64.
	RapidHash = Hash{&rapidHash}

	// MapHash is the hash of the runtime's maps (hash/maphash), under a random seed that all
	// filters of the process share: fast, and safe for keys that an attacker chooses. Filters with
	// MapHash cannot leave the process. It has 64 bits, like RapidHash.
	MapHash = Hash{&mapHash}
)

// Name returns the name that identifies the hash, also in files. It is empty for a custom hash
// without a name.
func (h Hash) Name() string {
	if h.def == nil {
		return ""
	}
	return h.def.name
}

// String returns the name, or for a hash without a name a text that is unique in this process.
func (h Hash) String() string {
	if h.def == nil {
		return shown("", 0)
	}
	return h.def.String()
}

// NewHash returns a custom hash for [WithHash]. sum returns the 128-bit digest (h1, h2) of a key.
// Both halves must look random and be independent of each other, because a strategy may use any bit
// of them. Package bloomtest tests that. [NewHash64] is for hashes of 64 bits.
//
// The name identifies the hash. Files contain the name, and a reader passes the hash of that name
// to WithHash. So the function must never change. Filters are compatible if their hashes have the
// same name and both have 128 or both 64 bits. A hash with the empty name is for this process, for
// example with a random seed: its filters are compatible with each other, and cannot be written.
//
// The function is called from many goroutines at once. It must neither change the key nor keep it,
// or a part of it, beyond the call: the key's memory belongs to the caller of Add, which may use it
// again, and may be on a stack. A function that breaks this makes filters miss keys, and may crash
// the program. Add and Contains allocate nothing if the function does not. A call costs 1 to 2 ns
// more than a call of a built-in hash.
//
// [New] returns an error for a hash without a function, or if the name has more than 255 bytes or
// is the name of a built-in hash.
func NewHash(name string, sum func(key []byte) (h1, h2 uint64)) Hash {
	return newHash(hashDefinition{id: idCustom, name: name, sum: sum, bits: 128})
}

// NewHash64 is [NewHash] for a hash of 64 bits, which must all look random. They become h1
// unchanged, for formats that are defined by them. h2 is made from them:
//
//	x = (h1 xor 0x9e3779b97f4a7c15)·0x9e3779b185ebca87  mod 2^64
//	h2 = x xor x>>32
//
// A key has the same digest as one of n others with probability n/2^64. [New] subtracts this from
// p, so p must be well above it.
func NewHash64(name string, sum func(key []byte) uint64) Hash {
	return newHash(hashDefinition{id: idCustom64, name: name, sum64: sum, bits: 64})
}

func newHash(d hashDefinition) Hash {
	d.serial = serialFor(d.name)
	return Hash{&d}
}

// validate returns what is wrong about a hash.
func (h Hash) validate() error {
	switch d := h.def; {
	case d == nil:
		return invalid("the hash is the zero Hash, want one such as Murmur3")
	case d == &sipHash:
		return invalid("hash %v has a secret key, want WithKey", h)
	case !d.custom():
		return nil
	case d.sum == nil && d.sum64 == nil:
		return invalid("hash %q has no function", d)
	case len(d.name) > format.MaxName:
		return invalid("hash name %.20q… has %d bytes, want at most %d", d.name, len(d.name), format.MaxName)
	case builtinHash(d.name) != nil:
		return invalid("hash name %q is taken by this package", d.name)
	}
	return nil
}

// A hashDefinition is what a Hash stands for. It never changes.
type hashDefinition struct {
	id     hashID
	name   string
	bits   int    // of the digest that are independent
	serial uint64 // of one without a name: which call of NewHash made it
	sum    func(key []byte) (h1, h2 uint64)
	sum64  func(key []byte) uint64
}

// hashID picks the call that hashes.
type hashID uint8

const (
	idNone  hashID = iota // of a zero BloomFilter
	idOfKey               // no hash: the strategy takes the key itself
	idMurmur3
	idRapidHash
	idMapHash
	idSipHash
	idCustom
	idCustom64
)

var (
	murmur3Hash = hashDefinition{id: idMurmur3, name: "murmur3", bits: 128}
	mapHash     = hashDefinition{id: idMapHash, name: "maphash", bits: 64}
	rapidHash   = hashDefinition{id: idRapidHash, name: "rapidhash-v3", bits: 64}
	sipHash     = hashDefinition{id: idSipHash, name: "siphash", bits: 128} // WithKey chooses it
	noHash      = hashDefinition{id: idOfKey, name: "none", bits: 128}
)

// builtinHash returns the hash of this package with that name, or nil.
func builtinHash(name string) *hashDefinition {
	for _, d := range []*hashDefinition{&murmur3Hash, &rapidHash, &mapHash, &sipHash, &noHash} {
		if d.name == name {
			return d
		}
	}
	return nil
}

func (d *hashDefinition) custom() bool { return d.id >= idCustom }

// same reports whether two hashes are taken to be equal.
func (d *hashDefinition) same(other *hashDefinition) bool {
	return d == other || d.custom() && d.id == other.id && d.name == other.name && d.serial == other.serial
}

// quoted returns what no other hash of this process has.
func (d *hashDefinition) quoted() string {
	switch d.id {
	case idCustom:
		return quoted(d.name, d.serial)
	case idCustom64:
		return quoted(d.name, d.serial) + "/64"
	}
	return d.name
}

func (d *hashDefinition) String() string { return shown(d.name, d.serial) }

// mapSeed is one for the process, or no two filters could be united.
var mapSeed = maphash.MakeSeed()

// A hasher is a Hash with its seed or key. It is a struct with direct calls and not an
// interface: a key that crosses an interface escapes to the heap, and with it the caller's
// stack buffer.
type hasher struct {
	id     hashID
	def    *hashDefinition
	k0, k1 uint64 // the secret key of sipHash; otherwise the seed and the state that the hash begins with
}

// seededHasher is for a hash, or a strategy with one of its own, that takes a seed.
func seededHasher(def *hashDefinition, seed uint64) hasher {
	h := hasher{id: def.id, def: def, k0: seed, k1: seed}
	switch def {
	case &murmur3Hash:
		h.k1 = probe.MurmurStart(seed)
	case &rapidHash:
		h.k1 = rapidhash.Start(seed)
	}
	return h
}

func keyedHasher(key [16]byte) hasher {
	return hasher{id: idSipHash, def: &sipHash, k0: binary.LittleEndian.Uint64(key[:8]), k1: binary.LittleEndian.Uint64(key[8:])}
}

// key returns the secret key of sipHash.
func (h *hasher) key() (key [16]byte) {
	binary.LittleEndian.PutUint64(key[:8], h.k0)
	binary.LittleEndian.PutUint64(key[8:], h.k1)
	return key
}

// keyCheckText is what a secret key is checked with. Its digest is public, so it must never be
// of use as a key of a filter.
const keyCheckText = "github.com/seed3447c163/bloom: is this the key that the filter was made with?"

// checkValue stands for the seed or key where filters are compared or written: the seed
// itself, or the digest of a constant under a secret key.
func (h *hasher) checkValue() uint64 {
	switch h.id {
	case idMapHash:
		return maphash.String(mapSeed, keyCheckText)
	case idSipHash:
		check, _ := siphash.Hash128(h.k0, h.k1, []byte(keyCheckText))
		return check
	}
	return h.k0
}

// sum returns the digest. For Murmur3, h1 is the first eight bytes of the canonical one,
// little-endian, and h2 the rest.
func (h *hasher) sum(key []byte) (h1, h2 uint64) {
	switch h.id {
	case idMurmur3:
		return murmur3.SeedSum128(h.k1, h.k1, key)
	case idRapidHash:
		if rapidhash.Inlines(len(key)) {
			h1 = rapidhash.Tail(rapidhash.Head(h.k1, key), key)
		} else {
			h1 = rapidhash.Sum(h.k1, key)
		}
	case idMapHash:
		h1 = maphash.Bytes(mapSeed, key)
	case idSipHash:
		return siphash.Hash128(h.k0, h.k1, key)
	case idCustom:
		return h.def.sum(noescape.Slice(key))
	default:
		h1 = h.def.sum64(noescape.Slice(key))
	}
	return h1, widen(h1)
}

// Digest64 makes a digest of any 64 bits that tell keys apart, for [BloomFilter.AddDigest] and
// everything else that takes a digest: of a block hash, a row number, a pointer. Every strategy
// then keeps its rate, also for values that are sequential or differ in a few bits. Different
// values have different digests.
//
// The value itself is not a digest, because strategies need two random halves. Blocked, for
// example, selects a key's block by the high bits of h1: small numbers would all be in one block,
// and every answer would be true.
//
// The digests never change:
//
//	x = v xor 0x9e3779b97f4a7c15
//	x = (x xor x>>30)·0xbf58476d1ce4e5b9  mod 2^64
//	x = (x xor x>>27)·0x94d049bb133111eb  mod 2^64
//	h1 = x xor x>>31
//
// and h2 is made from h1 as [NewHash64] says. Source: Steele, Lea & Flood 2014, "Fast
// splittable pseudorandom number generators", with the constants of Stafford's variant 13.
func Digest64(v uint64) (h1, h2 uint64) {
	x := v ^ probe.Xor // or 0 would have the digest (0, …), and it is a value like any other
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return x, widen(x)
}

// widen makes h2 from the h1 of a hash of 64 bits.
func widen(h1 uint64) uint64 { return probe.Widen(h1) }

// bytesOf views a string as bytes without the copy that a conversion makes.
// The result must not be written to, nor kept beyond the call it is made for.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
