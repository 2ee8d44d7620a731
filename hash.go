package bloom

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/seed3447c163/bloom/internal/noescape"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/twmb/murmur3"
)

// A Hash turns keys into 128-bit digests. Choose one with [WithHash]: one of this
// package, or one of your own, made by [NewHash] or [NewHash64]. For SipHash, which takes
// a secret, see [WithKey]. [New] refuses the zero Hash, which stands for none.
//
// A Hash is a small value that never changes, and can be compared. A filter keeps its
// own, whatever is assigned to a variable afterwards.
type Hash struct{ def *hashDefinition }

var (
	// Murmur3 is MurmurHash3 x64-128: fast, the same everywhere and in every
	// release, and the default. It is not keyed: an attacker who chooses the keys can
	// make them collide, under every seed.
	Murmur3 = Hash{&murmur3Hash}

	// RapidHash is rapidhash V3: like Murmur3 the same everywhere and in every release, and
	// not keyed. On amd64 it is the fastest for keys of up to 48 bytes, and about
	// as fast as MapHash for longer ones. It has 64 bits, which become a digest as those of
	// [NewHash64] do, so that p must stay well above n/2^64.
	RapidHash = Hash{&rapidHash}

	// MapHash is the hash of the runtime's own maps (hash/maphash), under a random
	// seed that all filters of the process share: fast, and safe against keys that an
	// attacker chose, but its digests mean nothing outside this process. It has 64 bits,
	// as RapidHash.
	MapHash = Hash{&mapHash}
)

// Name returns the name that identifies the hash, in files too. It is empty for one of your
// own without a name.
func (h Hash) Name() string {
	if h.def == nil {
		return ""
	}
	return h.def.name
}

// String is for logs and errors: the name, or for a hash without one something that tells it
// from others of this process.
func (h Hash) String() string {
	if h.def == nil {
		return shown("", 0)
	}
	return h.def.String()
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
	idMurmur3 hashID = iota
	idMapHash
	idRapidHash
	idSipHash
	idOwnHash
	idOwnHash64
	idOfKey // no hash: the strategy takes the key itself
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

func (d *hashDefinition) own() bool { return d.id == idOwnHash || d.id == idOwnHash64 }

// same reports whether two hashes are taken to be equal.
func (d *hashDefinition) same(other *hashDefinition) bool {
	return d == other || d.own() && other.own() && d.name == other.name && d.serial == other.serial
}

// quoted returns what no other hash of this process has.
func (d *hashDefinition) quoted() string {
	if d.own() {
		return quoted(d.name, d.serial)
	}
	return d.name
}

func (d *hashDefinition) String() string { return shown(d.name, d.serial) }

// mapSeed is one for the process, or no two filters could be united.
var mapSeed = maphash.MakeSeed()

// A hasher is a Hash with its seed or key. It is a struct with direct calls and
// not an interface: a key that crosses an interface escapes to the heap, and with
// it the caller's stack buffer.
type hasher struct {
	def    *hashDefinition
	k0, k1 uint64 // the secret key of sipHash; otherwise the seed and what the hash makes of it
}

// seededHasher is for a hash, or a strategy with one of its own, that takes a seed.
func seededHasher(def *hashDefinition, seed uint64) hasher {
	h := hasher{def: def, k0: seed, k1: seed}
	switch def {
	case &murmur3Hash:
		h.k1 = probe.MurmurStart(seed)
	case &rapidHash:
		h.k1 = rapidhash.Start(seed)
	}
	return h
}

// start is where the hash of a key starts.
func (h *hasher) start() uint64 { return h.k1 }

func keyedHasher(key [16]byte) hasher {
	return hasher{def: &sipHash, k0: binary.LittleEndian.Uint64(key[:8]), k1: binary.LittleEndian.Uint64(key[8:])}
}

// key returns the secret key of sipHash.
func (h *hasher) key() (key [16]byte) {
	binary.LittleEndian.PutUint64(key[:8], h.k0)
	binary.LittleEndian.PutUint64(key[8:], h.k1)
	return key
}

// keyCheckText is what a secret key is checked with. Its digest is public, so it
// must never be of use as a key of a filter.
const keyCheckText = "github.com/seed3447c163/bloom: is this the key that the filter was made with?"

// checkValue stands for the seed or key where filters are compared or written: the
// seed itself, or what a secret key makes of a constant.
func (h *hasher) checkValue() uint64 {
	switch h.def.id {
	case idMapHash:
		return maphash.String(mapSeed, keyCheckText)
	case idSipHash:
		check, _ := siphash.Hash128(h.k0, h.k1, []byte(keyCheckText))
		return check
	}
	return h.k0
}

// sum returns the digest. For Murmur3, h1 is the first eight bytes of the
// canonical one, little-endian, and h2 the rest.
func (h *hasher) sum(key []byte) (h1, h2 uint64) {
	switch h.def.id {
	case idMapHash:
		h1 = maphash.Bytes(mapSeed, key)
		return h1, widen(h1)
	case idRapidHash:
		h1 = rapidhash.Sum(h.k1, key)
		return h1, widen(h1)
	case idSipHash:
		return siphash.Hash128(h.k0, h.k1, key)
	case idOwnHash:
		return h.def.sum(noescape.Slice(key))
	case idOwnHash64:
		h1 = h.def.sum64(noescape.Slice(key))
		return h1, widen(h1)
	}
	return murmur3.SeedSum128(h.k1, h.k1, key)
}

// bytesOf views a string as bytes without the copy that a conversion makes.
// The result must not be written to, nor kept beyond the call it is made for.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
