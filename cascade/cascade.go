// Package cascade implements filters that answer exactly for the keys of two known lists: keys of the first list are
// in, keys of the second are out. Examples are a block list with its exceptions, and revoked and valid certificates.
//
//	c, err := cascade.New(ctx, 0, blocked, allowed)
//	if err != nil {
//		return err
//	}
//	refuse := c.ContainsString(sender) // exact for both lists
//
// One filter wrongly accepts some keys of the second list. A cascade adds a second filter of these keys. The second
// filter wrongly accepts some keys of the first list, so there is a third filter of these keys, and so on until no key
// is left. For r keys in and s keys out it needs about
//
//	1.44·log2(s/r) + 4.2  bits per key that is in
//
// For ten times as many keys out as in, this is 9 bits. For keys in neither list, the false-positive rate is at most
// the rate of the first filter; see [New].
//
// Source: Larisch, Choffnes, Levin, Maggs, Mislove & Wilson 2017, "CRLite: A scalable
// system for pushing all TLS revocations to all browsers", section IV.
package cascade

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Cascade knows two lists of keys. Make one with [New] or [Read]; the zero Cascade has two empty
// lists.
//
// A Cascade never changes, so all methods are safe for concurrent use by multiple goroutines.
// Lookups take no lock and allocate nothing. A Cascade does not marshal to text, JSON or gob: use
// [Cascade.WriteTo] and [Read].
type Cascade struct {
	filters []*bloom.BloomFilter // of keys that are in, of keys that are out, and so on
}

// Contains returns true for keys of the first list and false for keys of the second. For other keys
// it returns true at a rate of at most the p of [New].
func (c *Cascade) Contains(key []byte) bool {
	if len(c.filters) == 0 {
		return false
	}
	h1, h2 := c.filters[0].Scheme().Digest(key)
	return c.contains(h1, h2, 0)
}

// ContainsString is [Cascade.Contains] for a string, without copying it.
func (c *Cascade) ContainsString(key string) bool { return c.Contains(memory.BytesOf(key)) }

// contains looks up a key in the levels from first on. The caller knows that all earlier levels contain the key.
func (c *Cascade) contains(h1, h2 uint64, first int) bool {
	for i := first; i < len(c.filters); i++ {
		if !c.filters[i].ContainsDigest(level(h1, h2, i)) {
			return i%2 == 1
		}
	}
	return len(c.filters)%2 == 1
}

// ContainsMany looks up keys as [Cascade.Contains] does, but faster if the cascade is larger than the cache. It returns
// for how many the answer is true. If found is not nil, ContainsMany sets found[i] to the answer for keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (c *Cascade) ContainsMany(keys [][]byte, found []bool) (count int) {
	batch.CheckAnswers("cascade", len(keys), found)
	if len(c.filters) == 0 || c.filters[0].SizeBytes() <= layered.InCache {
		for i, key := range keys {
			count += batch.Answer(c.Contains(key), found, i)
		}
		return count
	}
	var b layered.Batch
	for first := 0; first < len(keys); first += layered.Group {
		b.Hash(c.filters[0].Scheme(), keys[first:])
		c.filters[0].ContainsDigests(b.Digests[:b.Keys], b.Found[:b.Keys]) // by far the largest level
		for i, d := range b.Digests[:b.Keys] {
			count += batch.Answer(b.Found[i] && c.contains(d[0], d[1], 1), found, first+i)
		}
	}
	return count
}

// level returns the digest for level i. A key is hashed once, but its positions in the levels must be independent: the
// keys of the second filter are false positives of the first.
//
// The first level uses the digest itself. The others mix both halves with the level's number by
// bijections, so different digests stay different.
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

// smallest returns the rate of the first level that makes the cascade smallest: sqrt(1/2)·in/out, at most 1/2. If the
// strategy or the hash cannot have so small a rate, it returns less than twice the smallest possible rate.
//
// Source: Larisch et al. 2017, section IV.
func smallest(in, out uint64, opts []bloom.Option) float64 {
	p := math.Sqrt(0.5) * float64(in) / float64(out)
	for ; p < later; p *= 2 {
		if _, err := bloom.NewScheme(in, p, opts...); !errors.Is(err, bloom.ErrInvalid) {
			return p
		}
	}
	return later
}

// later is the rate of all levels but the first: with k = 1, half of their bits are set.
const later = 0.5

// Levels returns the parameters of each level's filter. The first filter has the keys that are in, the second the keys
// that are out and pass the first, and so on.
func (c *Cascade) Levels() []bloom.Params {
	levels := make([]bloom.Params, len(c.filters))
	for i, f := range c.filters {
		levels[i] = f.Params()
	}
	return levels
}

// SizeBytes returns the number of bytes that the bits of all levels take.
func (c *Cascade) SizeBytes() (bytes uint64) {
	for _, f := range c.filters {
		bytes += f.SizeBytes()
	}
	return bytes
}

// Stats describes the cascade, in O(m). N, P and K describe the first level. EstimatedCount is N, the exact number of
// keys that are in. M, SizeBytes and Ones are sums over all levels. EstimatedFalsePositiveRate is for keys in neither
// list.
func (c *Cascade) Stats() (s bloom.Stats) {
	wrong := 0.0
	if len(c.filters)%2 == 1 {
		wrong = 1 // for a key that all levels contain
	}
	for i := len(c.filters) - 1; i >= 0; i-- {
		of := c.filters[i].Stats()
		layered.Total(&s, of)
		s.N, s.P, s.EstimatedCount = of.N, of.P, of.N
		wrong *= of.EstimatedFalsePositiveRate
		if i%2 == 1 {
			wrong += 1 - of.EstimatedFalsePositiveRate
		}
	}
	s.EstimatedFalsePositiveRate = wrong
	return s
}

// String describes the cascade in one line.
func (c *Cascade) String() string {
	if len(c.filters) == 0 {
		return "cascade.Cascade(levels=0)"
	}
	first := c.filters[0]
	return fmt.Sprintf("cascade.Cascade(n=%d p=%g levels=%d strategy=%s bytes=%d)",
		first.Params().N, first.Params().P, len(c.filters), first.Scheme().Strategy(), c.SizeBytes())
}

// LogValue returns what String returns, for package log/slog.
func (c *Cascade) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use [Cascade.WriteTo].
func (c *Cascade) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a cascade.Cascade", "WriteTo")
}
