package main

import "math/bits"

// keyPrefix and 16 hexadecimal digits make a key of keyLen bytes: a URL as a
// crawler meets it, whose host is shared by many and whose tail tells it apart.
const (
	keyPrefix = "https://www.example.com/"
	keyLen    = len(keyPrefix) + 16
)

// chunkKeys is how many keys are made at a time, untimed, before they are timed.
// Enough that reading the clock twice costs nothing (8192 keys of 10 ns are 80 µs),
// few enough that the keys (half a megabyte with their headers) still lie in the
// second-level cache when the filter gets them, so that their memory is not what
// is measured, for no filter and no n. Every chunk has other keys: a branch
// predictor that has seen a list of keys twice knows the answers.
const chunkKeys = 8192

// A slab holds one chunk of keys. Each worker has its own.
type slab struct {
	keys  [][]byte // the chunk: slices of buf
	first uint64   // number of the chunk's first key, as given to the filler
	all   [][]byte
}

func newSlab() *slab {
	buf := make([]byte, chunkKeys*keyLen)
	s := &slab{all: make([][]byte, chunkKeys)}
	for i := range s.all {
		s.all[i] = buf[i*keyLen : (i+1)*keyLen : (i+1)*keyLen]
		copy(s.all[i], keyPrefix)
	}
	return s
}

// A filler makes the chunk of count keys that starts at the first-th of a
// measurement.
type filler func(s *slab, first uint64, count int)

// Numbers name keys: different numbers, different keys. Each fill of a filter has
// its own range of 2^36, so that no two filters of a run hold the same keys, and
// the upper half of all numbers is never added.
const (
	fillShift = 36
	absentBit = 1 << 63
)

// fresh makes the keys base, base+1, …
func fresh(base uint64) filler {
	return func(s *slab, first uint64, count int) {
		s.set(first, count)
		for i, key := range s.keys {
			writeKey(key, base+first+uint64(i))
		}
	}
}

// among makes keys at random from the n that start at base, in an order that the
// salt decides, as lookups of keys that are there do.
func among(base, n, salt uint64) filler {
	return func(s *slab, first uint64, count int) {
		s.set(first, count)
		for i, key := range s.keys {
			j, _ := bits.Mul64(mix(^(base + salt + first + uint64(i))), n)
			writeKey(key, base+j)
		}
	}
}

// mixed makes keys of which every other one, at random, is among the n that start at base:
// what a branch predictor cannot learn.
func mixed(base, n, salt uint64) filler {
	return func(s *slab, first uint64, count int) {
		s.set(first, count)
		for i, key := range s.keys {
			number := base + salt + first + uint64(i)
			x := mix(^number)
			if j, _ := bits.Mul64(x<<1, n); x>>63 == 0 {
				writeKey(key, base+j)
			} else {
				writeKey(key, number|absentBit)
			}
		}
	}
}

func (s *slab) set(first uint64, count int) {
	s.first, s.keys = first, s.all[:count]
}

const hexDigits = "0123456789abcdef"

// writeKey writes the key of a number over the last digits of key.
func writeKey(key []byte, number uint64) {
	x := mix(number)
	tail := key[len(keyPrefix):keyLen]
	for i := range tail {
		tail[i] = hexDigits[x>>60]
		x <<= 4
	}
}

// mix is a bijection on 64 bits whose output looks random (the finalizer of
// SplitMix64: Steele, Lea & Flood 2014). The JVM's program has the same.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
