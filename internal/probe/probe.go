// Package probe computes a key's bits from its digest, for packages bloom and view. The documentation of the strategies
// in package bloom is the specification, and never changes.
package probe

import "math/bits"

// The constants of DoubleHashing and Blocked. The multiplier is 5 modulo 8, so that the congruential sequence has its
// full period.
const (
	Mul = 0xd1342543de82ef95
	Xor = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio; any number without a pattern would do
)

// Reduce maps a uniform x to [0, m) by multiplication, as m·(x / 2^64).
//
// Source: Lemire 2019, "Fast random integer generation in an interval".
func Reduce(x, m uint64) uint64 {
	hi, _ := bits.Mul64(x, m)
	return hi
}

// Bit returns a word with one bit set. The low 6 bits of r select the bit.
func Bit(r uint64) uint64 { return 1 << (r & 63) }

// MurmurStart returns the initial value of both halves of Murmur3 x64-128 for a seed: 0 for seed 0, as in plain
// Murmur3, otherwise seed·Xor mod 2^64 with the highest bit set.
//
// At its end, Murmur3 xors the key's length into both halves, adds each half to the other, and mixes them. For keys of
// 1 to 8 bytes, and of 9 to 15 bytes with zeros from the 9th byte on, one half is then start xor length. If that were
// 0, the digest would be (2x, 3x) for some x, and the bits of a key would depend only on its block. It is never 0: a
// start of 0 differs from every length except 0, and all other starts are at least 2^63, more than any length. With a
// start equal to the seed, the rate of Blocked was 24 to 35 times as high for keys whose length equals the seed.
//
// The starts of seeds s and s+i differ for 0 < i < 2^63, so SeededHashing has k different hashes. Seeds that differ
// only in the highest bit have the same start.
func MurmurStart(seed uint64) uint64 {
	if seed == 0 {
		return 0
	}
	return seed*Xor | 1<<63
}

// Widen computes the second half of a digest from the first, if that is a hash of 64 bits:
//
//	x = (h1 xor 0x9e3779b97f4a7c15)·0x9e3779b185ebca87  mod 2^64
//	h2 = x xor x>>32
//
// The high half of the product depends on nearly all bits of h1, its low half only on the low bits. The shift combines
// both: among keys whose h1 have some bits in common, such as those that select a block, h2 still looks random. A
// rotation instead of the shift does not suffice: a strategy that uses the low bits of h1 and the high bits of h2 then
// has 1.2 times its rate. Not every multiplier is good, see TestMapHashRateWithinABlock of package bloom. The
// multiplier differs from that of DoubleHashing: otherwise the second position would depend on the first.
func Widen(h1 uint64) uint64 {
	x := (h1 ^ Xor) * 0x9e3779b185ebca87
	return x ^ x>>32
}
