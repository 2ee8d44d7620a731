// Package cascade answers exactly for the keys of two lists: those of the first are in,
// those of the second are out, without an error for any of them. A spam list with its
// white list, revoked and valid certificates, customers and former customers.
//
// A filter alone errs on some of the keys that are out. A cascade adds a second filter
// of those, which errs on some of the keys that are in, then a third of these, and so on
// until nobody is left. It needs about
//
//	1.44·log2(s/r) + 4.2  bits for each of the r keys that are in, beside s that are out
//
// which is 9 bits at one to ten. Of a key that is in neither list, it knows as much as
// its first filter: it is probably out, and said to be in at a rate of at most half of p
// or so; see [New].
//
// Source: Larisch, Choffnes, Levin, Maggs, Mislove & Wilson 2017, "CRLite: A scalable
// system for pushing all TLS revocations to all browsers", section IV.
package cascade

import (
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom"
)

// A Cascade knows two lists of keys. Make one with [New] or [Read]; the zero Cascade has
// two empty lists. It never changes, so all methods are safe for concurrent use by
// multiple goroutines. They take no lock and allocate nothing, but for those that say so.
type Cascade struct {
	filters []*bloom.BloomFilter // of keys that are in, of keys that are out, and so on
}

// Contains reports whether a key is in: without error for the keys of both lists. For
// any other key, true is wrong, at a rate below the p of [New].
func (c *Cascade) Contains(key []byte) bool {
	if len(c.filters) == 0 {
		return false
	}
	return c.ContainsDigest(c.filters[0].Digest(key))
}

// ContainsString is [Cascade.Contains] for a string, without copying it.
func (c *Cascade) ContainsString(key string) bool {
	if len(c.filters) == 0 {
		return false
	}
	return c.ContainsDigest(c.filters[0].DigestString(key))
}

// ContainsDigest is [Cascade.Contains] for a key whose digest is already known, from
// [bloom.BloomFilter.Hash] of a filter with the same hash and seed or key.
func (c *Cascade) ContainsDigest(h1, h2 uint64) bool {
	for i, f := range c.filters {
		if !f.ContainsDigest(level(h1, h2, i)) {
			return i%2 == 1
		}
	}
	return len(c.filters)%2 == 1
}

// level returns the digest for one level. All levels share one hash of the key, but their
// positions must be independent: the keys that the second filter is made of are those
// that coincide with others in the first.
//
// The first level has the digest itself. The others mix both halves with the level's
// number, each step a bijection, so that different digests stay different.
//
// Source of the mixing: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
// generators", variant 13 of Stafford.
func level(h1, h2 uint64, i int) (uint64, uint64) {
	if i == 0 {
		return h1, h2
	}
	h1 = mix(h1 + uint64(i)*0x9e3779b97f4a7c15)
	return h1, mix(h2 ^ bits.RotateLeft64(h1, 32))
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// smallest returns the first level's rate that makes the whole cascade the smallest, for
// in keys that are in and out that are out: sqrt(1/2)·in/out, at most 1/2.
//
// Source: Larisch et al. 2017, section IV.
func smallest(in, out uint64) float64 {
	return min(later, math.Sqrt(0.5)*float64(in)/float64(out))
}

// later is the rate of all levels but the first: with k = 1, half of their bits are set.
const later = 0.5
