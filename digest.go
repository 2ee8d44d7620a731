package bloom

import "github.com/seed3447c163/bloom/internal/probe"

// Digest64 makes a digest of any 64 bits that tell keys apart, for
// [BloomFilter.AddDigest] and all else that takes a digest: of a block hash, a row number,
// a pointer. With it every strategy keeps its rate, also where the values are sequential
// or differ in a few bits only. Different values have different digests.
//
// Do not pass such a value as a digest itself: a strategy takes both halves for random.
// Blocked, for instance, selects a key's block by the high bits of h1, so that small
// numbers are all in one block, and every answer is true.
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
	x := v ^ probe.Xor // or 0 would have the digest (0, …), and it is a value like any other
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return x, widen(x)
}

// widen makes h2 of the h1 of a hash of 64 bits.
func widen(h1 uint64) uint64 { return probe.Widen(h1) }
