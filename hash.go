package bloom

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/seed3447c163/bloom/internal/vector"
	"github.com/twmb/murmur3"
)

// A Hash turns keys into 128-bit digests. Choose one with [WithHash]: Murmur3, RapidHash, MapHash, or a custom hash
// from [NewHash] or [NewHash64]. For SipHash, see [WithSecret]. A Hash never changes. [New] refuses nil, the zero Hash,
// and a copy of a built-in one.
type Hash struct {
	label
	bits  int                      // independent bits of the digest: 64 or 128
	start func(seed uint64) uint64 // returns the initial state; nil if the hash takes no seed

	// sum returns the digest of a key, of 128 bits. It is nil for hashes that BloomFilter.do and Scheme.sum call
	// directly, and for sipHash, which needs a secret.
	sum func(key []byte) (h1, h2 uint64)

	vector vector.Input // how kernels in assembly hash a key

	custom bool
	ofCopy func(key []byte) (h1, h2 uint64) // a custom function that must get a copy of the key; nil if none
}

var (
	// Murmur3 is MurmurHash3 x64-128: fast, the same everywhere and in every
	// release, and the default. It is not keyed: an attacker who chooses the keys can
	// make them collide, under every seed.
	Murmur3 = &murmur3Hash

	// RapidHash is rapidhash V3. Like Murmur3, it is the same everywhere and in every release, and not keyed. On amd64
	// it is the fastest hash for keys of up to 100 bytes, and about as fast as MapHash for longer keys. It has 64 bits.
	// They become a digest as in [NewHash64], so p must be well above n/2^64.
	RapidHash = &rapidHash

	// MapHash is the hash of the runtime's maps (hash/maphash), under a random seed that all filters of the process
	// share: fast, and safe for keys that an attacker chooses. Filters with MapHash cannot be saved or sent to another
	// process. It has 64 bits, like RapidHash.
	MapHash = &mapHash
)

// Name returns the name that identifies the hash, also in files. It is empty for a custom hash
// without a name.
func (h *Hash) Name() string { return h.id().name }

// String returns the name. For a hash without a name, it returns a text that is unique in this process.
func (h *Hash) String() string { return h.id().String() }

// id returns the hash's label, empty for nil.
func (h *Hash) id() label {
	if h == nil {
		return label{}
	}
	return h.label
}

// NewHash returns a custom hash for [WithHash]. sum returns the 128-bit digest (h1, h2) of a key.
// Both halves must look random and be independent of each other, because a strategy may use any bit
// of them. Package bloomtest tests that. [NewHash64] is for hashes of 64 bits.
//
// The name identifies the hash. Files contain the name, and a reader passes the hash of that name to WithHash. So the
// function must never change: a new version needs a new name. Two custom hashes are compatible if they have the same
// name and the same number of bits. A hash with the empty name is for this process only, for example with a random
// seed: its filters are compatible with each other, but cannot be written.
//
// A program that hashes its keys itself should call [BloomFilter.AddDigest] and [BloomFilter.ContainsDigest] instead.
// The function is called from many goroutines at once. It gets a copy of the key. It must not keep the copy: the memory
// is used again after the function has returned. Copying takes about 20 ns, less in large batches, and allocates only
// for keys above 64 KiB. The function may call methods of the filter.
//
// [New] returns an error for a hash without a function, or if the name has more than 255 bytes or
// is the name of a built-in hash.
func NewHash(name string, sum func(key []byte) (h1, h2 uint64)) *Hash {
	d := &Hash{label: newLabel(name), bits: 128, custom: true}
	if memory.IsOwn(sum) {
		d.sum = sum
	} else if sum != nil {
		d.sum, d.ofCopy = foreign(sum), sum
	}
	return d
}

// foreign returns the field sum of a custom hash: it calls the caller's function with a copy of the key.
func foreign(sum func(key []byte) (h1, h2 uint64)) func(key []byte) (h1, h2 uint64) {
	return func(key []byte) (h1, h2 uint64) {
		b := memory.GetBuffer()
		h1, h2 = sum(b.Copy(key))
		b.Free()
		return h1, h2
	}
}

// NewHash64 is [NewHash] for a hash of 64 bits. All 64 must look random. They become h1 unchanged, because some formats
// are defined by these 64 bits. h2 is computed from h1:
//
//	x = (h1 xor 0x9e3779b97f4a7c15)·0x9e3779b185ebca87  mod 2^64
//	h2 = x xor x>>32
//
// With n keys in the filter, a new key has the digest of one of them with probability n/2^64. [New] subtracts this from
// p, so p must be well above it.
func NewHash64(name string, sum func(key []byte) uint64) *Hash {
	d := &Hash{label: newLabel(name), bits: 64, custom: true}
	if memory.IsOwn(sum) {
		d.sum = func(key []byte) (h1, h2 uint64) { return widened(sum(key)) }
	} else if sum != nil {
		d.ofCopy = func(key []byte) (h1, h2 uint64) { return widened(sum(key)) }
		d.sum = foreign(d.ofCopy)
	}
	return d
}

// validate returns an error for a hash that WithHash refuses.
func (h *Hash) validate() error {
	switch {
	case h == nil || h.bits == 0:
		return invalid("the hash is nil or the zero Hash, want one such as Murmur3")
	case !h.custom && builtinHash(h.name) != h:
		return invalid("a copy of hash %q, want the pointer itself", h)
	case !h.custom:
		return nil
	case h.sum == nil:
		return invalid("hash %q has no function", h)
	case len(h.name) > format.MaxName:
		return invalid("hash name %.20q… has %d bytes, want at most %d", h.name, len(h.name), format.MaxName)
	case builtinHash(h.name) != nil:
		return invalid("hash name %q is taken by this package", h.name)
	}
	return nil
}

// hashes lists the hashes of this package. Add a new hash here, with a sum, and to the list of package conformance. A
// hash has cases in BloomFilter.do and Scheme.sum instead of a sum if benchmarks show that the cases are faster.
var hashes = []*Hash{&murmur3Hash, &rapidHash, &mapHash, &sipHash, &noHash}

var (
	murmur3Hash = Hash{label: label{name: "murmur3"}, bits: 128, start: probe.MurmurStart, vector: vector.Murmur}
	rapidHash   = Hash{label: label{name: "rapidhash-v3"}, bits: 64, start: rapidhash.Start, vector: vector.Rapid}
	mapHash     = Hash{label: label{name: "maphash"}, bits: 64}
	sipHash     = Hash{label: label{name: "siphash"}, bits: 128} // WithSecret chooses it

	// noHash is for strategies that hash the key themselves. Its state is the seed.
	noHash = Hash{label: label{name: "none"}, bits: 128, start: func(seed uint64) uint64 { return seed }}
)

// sum sets digests[i] to the digest of keys[i]. For Murmur3, h1 is the first eight bytes of the canonical digest,
// little-endian, and h2 the rest.
func (s *Scheme) sum(keys [][]byte, digests []digest) {
	digests = digests[:len(keys)]
	switch s.hash {
	case &rapidHash:
		for i := 0; i < len(keys); i++ {
			if i += s.sumInAssembly(keys[i:], digests[i:]); i == len(keys) {
				break
			}
			key := keys[i]
			if rapidhash.Inlines(len(key)) {
				digests[i][0], digests[i][1] = widened(rapidhash.Tail(rapidhash.Head(s.state, key), key))
			} else {
				digests[i][0], digests[i][1] = widened(rapidhash.Sum(s.state, key))
			}
		}
	case &mapHash:
		for i := range keys {
			digests[i][0], digests[i][1] = widened(maphash.Bytes(mapSeed, keys[i]))
		}
	case &murmur3Hash:
		for i := 0; i < len(keys); i++ {
			if i += s.sumInAssembly(keys[i:], digests[i:]); i < len(keys) {
				digests[i][0], digests[i][1] = murmur3.SeedSum128(s.state, s.state, keys[i])
			}
		}
	default:
		if s.hash.ofCopy != nil { // one buffer for all keys
			b := memory.GetBuffer()
			for i := range keys {
				digests[i][0], digests[i][1] = s.hash.ofCopy(b.Copy(keys[i]))
			}
			b.Free()
			return
		}
		for i := range keys {
			digests[i][0], digests[i][1] = s.sumKey(memory.NoEscape(keys[i]))
		}
	}
}

// sumOne returns the digest of one key. BloomFilter.do and sum repeat the cases of sumOne instead of calling it, to
// save up to a fifth of the time.
func (s *Scheme) sumOne(key []byte) (h1, h2 uint64) {
	switch s.hash {
	case &rapidHash:
		return widened(rapidhash.Sum(s.state, key))
	case &mapHash:
		return widened(maphash.Bytes(mapSeed, key))
	case &murmur3Hash:
		return murmur3.SeedSum128(s.state, s.state, key)
	}
	return s.sumKey(memory.NoEscape(key))
}

// sumInAssembly hashes the keys before the first long one by kernels in assembly. It returns how many: 0 if there are
// no such kernels.
func (s *Scheme) sumInAssembly(keys [][]byte, digests []digest) (done int) {
	if s.vector == vector.NoInput {
		return 0
	}
	return vector.Sum(s.vector, s.state, unsafe.Pointer(&keys[0]), unsafe.Sizeof(keys[0]), digests[:len(keys)])
}

// builtinHash returns the hash of this package with that name, or nil.
func builtinHash(name string) *Hash {
	for _, d := range hashes {
		if d.name == name {
			return d
		}
	}
	return nil
}

// equalDigests returns the probability that a new key has the digest of one of n others. No strategy can tell such keys
// apart.
func (h *Hash) equalDigests(n uint64) float64 {
	if h.bits == 64 {
		return float64(n) / (1 << 64)
	}
	return 0 // n/2^128 is negligible
}

// identity returns a text that two hashes share if and only if filters treat them as equal.
func (h *Hash) identity() string {
	switch {
	case !h.custom:
		return h.name
	case h.bits == 64:
		return h.unique() + "/64"
	}
	return h.unique()
}

// mapSeed is shared by all filters of the process. Otherwise no two filters could be united.
var mapSeed = maphash.MakeSeed()

// keyed returns SipHash under a secret. Only the function has the secret: package fmt prints all fields of a struct,
// but not what is in a function. The stack traces of a crash do show the arguments of Hash128.
func keyed(secret [16]byte) func(key []byte) (h1, h2 uint64) {
	k0, k1 := binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:])
	return func(key []byte) (h1, h2 uint64) { return siphash.Hash128(k0, k1, key) }
}

// secretCheckText is hashed to check a secret. Files and logs contain half of its digest. If a program added the text
// as a key, this half would tell something about the positions of a present key.
const secretCheckText = "github.com/seed3447c163/bloom: is this the key that the filter was made with?"

// secretCheck returns half of the digest of secretCheckText by SipHash under a secret.
func secretCheck(keyed func(key []byte) (h1, h2 uint64)) uint64 {
	check, _ := keyed([]byte(secretCheckText))
	return check
}

// checkValue returns the number by which files and String tell seeds or secrets apart: the seed itself, or half of a
// constant's digest under the secret. For MapHash, the value differs in every process. For a custom hash, it is the
// number of bits.
func (s *Scheme) checkValue() uint64 {
	switch {
	case s.hash == &mapHash:
		return maphash.String(mapSeed, secretCheckText)
	case s.hash == &sipHash:
		return secretCheck(s.sumKey)
	case s.hash.custom:
		return uint64(s.hash.bits)
	}
	return s.seed
}

// Digest64 turns 64 bits that identify a key, such as a block hash, a row number or a pointer, into a digest for
// [BloomFilter.AddDigest] and other functions that take one. Every strategy then keeps its rate, also for values that
// are sequential or differ in a few bits. Different values have different digests.
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
	x := v ^ probe.Xor // otherwise h1 would be 0 for v = 0
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return widened(x)
}

// widened makes a digest from a 64-bit hash, see NewHash64.
func widened(h1 uint64) (uint64, uint64) { return h1, probe.Widen(h1) }
