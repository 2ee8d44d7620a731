package bloom

import "github.com/seed3447c163/bloom/internal/probe"

// Digest64 makes a digest of any 64 bits that tell keys apart, for
// [BloomFilter.AddHash] and all else that takes a digest: of a block hash, a row number,
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

// widen makes the second half of a digest from a first half of 64 good bits:
//
//	x = (h1 xor 0x9e3779b97f4a7c15)·0x9e3779b185ebca87  mod 2^64
//	h2 = x xor x>>32
//
// The high half of the product depends on nearly all bits of h1, its low half on the low
// ones alone. The shift puts both together, so that h2 looks random among keys whose h1
// agree in whatever bits a strategy takes from it. (To rotate the product, which is as
// fast, is not enough: a strategy that takes the low bits of h1 and the high ones of h2
// has 1.2 times its rate. Nor is every multiplier good: TestMapHashWithinABlock.) The multiplier is not that of DoubleHashing, whose second
// position would otherwise follow from the first.
func widen(h1 uint64) uint64 {
	x := (h1 ^ probe.Xor) * 0x9e3779b185ebca87
	return x ^ x>>32
}
