package bloom

import (
	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/twmb/murmur3"
)

// SeededHashing hashes the key itself k times, by Murmur3 with the seeds s, s+1, …, s+k-1
// (s is 0 unless [WithSeed] says otherwise), and takes the first half of each digest
// modulo m. It is the textbook's filter, k times the work of [DoubleHashing] at the same
// rate, and here to be compared with. What a seed means is said at [WithSeed].
//
// It needs the key: [BloomFilter.AddDigest] and [BloomFilter.ContainsDigest]
// panic on a filter with this strategy.
var SeededHashing = Strategy{&seededHashing}

var seededHashing = definition{id: idSeededHashing, name: "seeded-hashing"}

// seededPosition is the i-th position of SeededHashing.
func seededPosition(key []byte, seed uint64, i int, d *divide.Divisor) uint64 {
	return d.Remainder(murmur3.SeedSum64(probe.MurmurStart(seed+uint64(i)), key))
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
