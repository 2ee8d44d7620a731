package main

import (
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom/compare/internal/filters"
)

// keyPrefix and 16 hexadecimal digits make a key of keyLen bytes: a URL as a crawler meets
// it, whose host is shared by many and whose tail tells it apart.
const (
	keyPrefix = "https://www.example.com/"
	keyLen    = len(keyPrefix) + 16
)

// chunkKeys is how many keys are made at a time, untimed, before they are timed. Enough that
// reading the clock twice costs nothing, few enough that they still lie in the second-level
// cache when the filter gets them. Every chunk has other keys: a branch predictor that has
// seen a list of keys twice knows the answers.
const chunkKeys = 8192

// A slab holds one chunk of keys. Each worker has its own.
type slab struct {
	filters.Keys // the chunk
	all          [][]byte
	digests      [][2]uint64
	hashed       bool // the filter gets digests
}

func newSlab(hashed bool) *slab {
	buf := make([]byte, chunkKeys*keyLen)
	s := &slab{all: make([][]byte, chunkKeys), digests: make([][2]uint64, chunkKeys), hashed: hashed}
	s.Answers = make([]bool, chunkKeys)
	for i := range s.all {
		s.all[i] = buf[i*keyLen : (i+1)*keyLen : (i+1)*keyLen]
		copy(s.all[i], keyPrefix)
	}
	return s
}

// Numbers name keys: different numbers, different keys. Each fill of a filter has its own
// range of 2^36, so that no two filters of a run hold the same keys, and the upper half of
// all numbers is never added.
const (
	fillShift = 36
	absentBit = 1 << 63
)

// A numbering names the i-th key of a measurement.
type numbering func(i uint64) uint64

// fresh are base, base+1, …
func fresh(base uint64) numbering { return func(i uint64) uint64 { return base + i } }

// among are random ones of the n keys that start at base, as lookups of keys that are there.
func among(base, n, salt uint64) numbering {
	return func(i uint64) uint64 {
		j, _ := bits.Mul64(mix(^(base + salt + i)), n)
		return base + j
	}
}

// mixed are those that are there or not, at random: what a branch predictor cannot learn.
func mixed(base, n, salt uint64) numbering {
	there := among(base, n, salt)
	return func(i uint64) uint64 {
		if mix(base+salt+i)>>63 == 0 {
			return there(i)
		}
		return (base + salt + i) | absentBit
	}
}

// fill makes the chunk of count keys that starts at the first-th of a measurement.
func (s *slab) fill(number numbering, first uint64, count int) {
	s.Bytes = s.all[:count]
	for i, key := range s.Bytes {
		writeKey(key, number(first+uint64(i)))
	}
	if s.hashed {
		s.Digests = s.digests[:count]
		for i, key := range s.Bytes {
			h := xxh3.Hash128(key)
			s.Digests[i] = [2]uint64{h.Hi, h.Lo}
		}
	}
}

// writeKey writes the key of a number over the last digits of key.
func writeKey(key []byte, number uint64) {
	x := mix(number)
	tail := key[len(keyPrefix):keyLen]
	for i := range tail {
		tail[i] = "0123456789abcdef"[x>>60]
		x <<= 4
	}
}

// mix is a bijection on 64 bits whose output looks random (the finalizer of SplitMix64:
// Steele, Lea & Flood 2014). The JVM's program has the same.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
