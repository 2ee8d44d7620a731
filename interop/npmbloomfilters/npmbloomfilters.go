// Package npmbloomfilters reads and writes the Bloom filters of the npm package bloom-filters, versions 2 and 3.
//
//	f, err := npmbloomfilters.New(10_000, 0.01) // BloomFilter.create(10000, 0.01)
//	f.AddString("key")                          // filter.add('key')
//	err = npmbloomfilters.Write(file, f)        // JSON.stringify(filter.saveAsJSON())
//	f, err = npmbloomfilters.Read(file)         // BloomFilter.fromJSON(JSON.parse(text))
//
// The filters are of type [bloom.BloomFilter]. A key is the UTF-8 encoding of a JavaScript string, or the bytes of a
// Buffer. A string with half of a surrogate pair cannot be shared.
//
// The digest is two numbers of 32 bits. With more than about a million keys the rate is well above p, and [New] refuses
// more than 2^32 bits.
package npmbloomfilters

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
	"github.com/seed3447c163/bloom/interop/internal/xxh64"
)

// Strategy is enhanced double hashing, the strategy of bloom-filters. For a digest (h1, h2) of
// [HashOf], the positions are
//
//	(h1 + i·h2 + (i³ - i)/6) mod m  for i = 0..k-1
//
// Source: Dillinger & Manolios 2004, "Bloom filters in probabilistic verification",
// section 5.2.
var Strategy = bloom.NewStrategy("npm-bloom-filters", definition)

var definition = bloom.Definition{
	Positions: func(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
		by := probe.NewDivisor(m)
		return func(h1, h2 uint64, i int) uint64 {
			n := uint64(i)
			return by.Remainder(h1 + n*h2 + (n*n*n-n)/6)
		}, nil
	},
	MaxK: foreign.MaxK,
	MaxM: maxM,
}

const maxM = 1 << 32 // h1 is below 2^32

const (
	defaultSeed = 0x1234567890
	maxSeed     = 1<<53 - 3 // JavaScript computes seed+2 in float64, exactly up to 2^53-1
)

var defaultHash = hashOf(defaultSeed)

// HashOf returns the hash of filters with a seed s from 0 to 2^53-3. The default is 0x1234567890. h1 and h2 are the low
// 32 bits of the key's XXH64 with two seeds: the low 32 bits of s+1 and of s+2.
//
// The error wraps bloom.ErrInvalid if the seed is larger.
func HashOf(seed uint64) (*bloom.Hash, error) {
	if seed > maxSeed {
		return nil, failure.Errorf(bloom.ErrInvalid, "seed %d, want at most %d", seed, uint64(maxSeed))
	}
	if seed == defaultSeed {
		return defaultHash, nil
	}
	return hashOf(seed), nil
}

func hashOf(seed uint64) *bloom.Hash {
	first, second := uint64(uint32(seed+1)), uint64(uint32(seed+2))
	return bloom.NewHash(hashName(seed), memory.Own(func(key []byte) (h1, h2 uint64) {
		return uint64(uint32(xxh64.Sum(first, key))), uint64(uint32(xxh64.Sum(second, key)))
	}))
}

const hashPrefix = "npm-bloom-filters-xxh64:"

func hashName(seed uint64) string { return fmt.Sprintf("%s%d", hashPrefix, seed) }

// New returns the empty filter that BloomFilter.create(n, p) makes, with the default seed. It uses
// the textbook formulas and rounds k up.
//
// The only option is [bloom.WithMaxBytes]. The error wraps bloom.ErrInvalid if n is 0, p is not between 0 and 1, k is
// above 255 or for another option, and bloom.ErrTooLarge for more than 2^32 bits or more memory than the machine has or
// the option allows.
func New(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	params, err := paramsFor(n, p)
	if err != nil {
		return nil, err
	}
	return foreign.New(params, required(defaultHash), opts)
}

// required returns the options of every filter with hash h.
func required(h *bloom.Hash) []bloom.Option {
	return []bloom.Option{bloom.WithStrategy(Strategy), bloom.WithHash(h)}
}

// paramsFor returns the parameters that BloomFilter.create chooses for n keys at rate p.
func paramsFor(n uint64, p float64) (bloom.Params, error) {
	if n == 0 {
		return bloom.Params{}, failure.Errorf(bloom.ErrInvalid, "n = 0 keys, want at least 1")
	}
	ln2 := math.Ln2 // a variable, so that the product is rounded to float64, as in JavaScript
	m := math.Ceil(-(float64(n) * math.Log(p) / (ln2 * ln2)))
	return foreign.Params(n, p, m, math.Ceil(m/float64(n)*ln2), maxM)
}
