package bloom

import (
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/twmb/murmur3"
)

// SeededHashing hashes the key itself k times, by Murmur3 with the seeds s, s+1, …, s+k-1 (s is the seed, see
// [WithSeed]), and takes the first half of each digest modulo m. It is the textbook's filter. It hashes k times as much
// as [DoubleHashing] for the same rate. Use it for comparisons.
//
// It needs the key: methods that take a digest panic.
var SeededHashing = Strategy{&seededHashing}

var seededHashing = seeded{independent{label{name: "seeded-hashing"}}}

type seeded struct{ independent }

func (s *seeded) size(n uint64, p float64) (uint64, int, error) { return search(s, n, p, false) }
func (*seeded) hashesKey() bool                                 { return true }
func (*seeded) folds() bool                                     { return false }
func (*seeded) kernel(m uint64, _ int, seed uint64) (*kernel, error) {
	c := &seededCode{probe.NewDivisor(m), seed}
	return &kernel{addKey: c.add, containsKey: c.contains, positionsOfKey: c.positions}, nil
}

// seededCode computes the positions of SeededHashing.
type seededCode struct {
	by   probe.Divisor // divides by m
	seed uint64
}

// position returns the i-th position of a key.
func (s *seededCode) position(key []byte, i int) uint64 {
	return s.by.Remainder(murmur3.SeedSum64(probe.MurmurStart(s.seed+uint64(i)), key))
}

func (s *seededCode) positions(dst []uint64, key []byte) {
	for j := range dst {
		dst[j] = s.position(key, j)
	}
}

func (s *seededCode) add(b *kernelArgs, key []byte) bool {
	var positions [maxK]uint64 // for both passes, because hashing is slow
	s.positions(positions[:b.k], key)
	return addAll(b.bits, positions[:b.k])
}

// contains stops at the first unset bit: a hash of the whole key costs more than a mispredicted branch.
func (s *seededCode) contains(b *kernelArgs, key []byte) bool {
	for i := range b.k {
		if b.bits.at(s.position(key, i)) == 0 {
			return false
		}
	}
	return true
}
