package bloom

import (
	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/twmb/murmur3"
)

// SeededHashing hashes the key itself k times, by 64-bit Murmur3 with the
// seeds s, s+1, …, s+k-1 (s is 0 unless [WithSeed] says otherwise), and takes
// each modulo m. It is the textbook's filter, k times the work of
// [DoubleHashing] at the same rate, and here to be compared with.
//
// One exception: the hash whose seed is the key's length, if that is 1 to 8, has
// the seed xor 0x9e3779b97f4a7c15 instead. Murmur3 by itself reaches only half of
// the positions there, which takes the rate of such keys up to 9 % above p.
//
// It needs the key: [BloomFilter.AddDigest] and [BloomFilter.ContainsDigest]
// panic on a filter with this strategy.
var SeededHashing = Strategy{&seededHashing}

var seededHashing = definition{id: idSeededHashing, name: "seeded-hashing"}

// seededPosition is the i-th position of SeededHashing.
func seededPosition(key []byte, seed uint64, i int, d *divide.Divisor) uint64 {
	seed += uint64(i)
	if uint64(len(key)) == seed {
		seed = murmurSeed(seed)
	}
	return d.Remainder(murmur3.SeedSum64(seed, key))
}

func seededAdd(b bitArray, d *divide.Divisor, k int, seed uint64, key []byte) bool {
	var positions [maxK]uint64 // hashing takes the time: once, for both passes
	last := noBit
	for i := range k {
		pos := seededPosition(key, seed, i, d)
		positions[i] = pos
		if b.get(pos) == 0 {
			last = pos
		}
	}
	if last == noBit {
		return false
	}
	for _, pos := range positions[:k] {
		if pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

// seededContains stops at the first bit that is not set: each further one costs a
// hash of the whole key, more than a mispredicted branch.
func seededContains(b bitArray, d *divide.Divisor, k int, seed uint64, key []byte) bool {
	for i := range k {
		if b.get(seededPosition(key, seed, i, d)) == 0 {
			return false
		}
	}
	return true
}
