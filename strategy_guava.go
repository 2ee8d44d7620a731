package bloom

import (
	"math"

	"github.com/seed3447c163/bloom/internal/divide"
)

// The strategies of Guava's BloomFilter, which Java programs use; package
// interop/guava reads and writes its filters. They are Guava's only with Murmur3 and
// no seed; with another hash they are the same walk over its digests.
//
// Both walk in equal steps, as the textbook's double hashing does, and two keys that
// agree in start and step modulo m agree in all positions. Small filters with a small
// p pay for it: [New] sizes by k independent positions, and at p = 1e-6 the measured
// rate of GuavaMitz64 is 58 times the promised one for n = 100, 9 times for n = 1000
// and 1.8 times for n = 10 000, that of GuavaMitz32 about half of this. At p = 1 % it
// is within 4 % from n = 100 on. The empty key, whose Murmur3 digest is (0, 0), has the one
// position 0. Where no other system is involved, [DoubleHashing] has neither fault.
var (
	// GuavaMitz64 is MURMUR128_MITZ_64, which Guava has used since version 17. The
	// positions of a digest (h1, h2) are
	//
	//	(h1 + i·h2 mod 2^64) mod 2^63 mod m  for i = 0..k-1
	GuavaMitz64 = Strategy{&guavaMitz64}

	// GuavaMitz32 is MURMUR128_MITZ_32, which Guava used up to version 16 and reads
	// ever since. With a and b the low and the high half of h1, as signed 32-bit
	// numbers, the positions are
	//
	//	x_i mod m  for i = 1..k, where x_i = a + i·b mod 2^32, and ^x_i where that is negative
	//
	// No x_i reaches 2^31, so more bits than that are in vain: [New] refuses to make
	// such a filter, [NewWithParams] does not, as they are there to be read. And where
	// 2^31 is no multiple of m, some positions come up more often than others: from
	// m = 2^30 on, New makes up for that by up to 9 % more bits. What is left of the equal
	// steps there is up to 3 % of the rate at p = 1 %, 10 % at 0.1 %, and a factor of 3 at
	// p = 1e-6.
	GuavaMitz32 = Strategy{&guavaMitz32}
)

var (
	guavaMitz64 = definition{id: idGuavaMitz64, name: "guava-mitz-64", Definition: Definition{MaxK: maxOwnK, Index: mitz64Index}}
	guavaMitz32 = definition{id: idGuavaMitz32, name: "guava-mitz-32", Definition: Definition{MaxK: maxOwnK, Index: mitz32Index}}
)

// mitz32Values is how many values the x_i of GuavaMitz32 can have.
const mitz32Values = 1 << 31

// keptPositions is how many positions an add keeps from its first pass for the second,
// enough for p = 1e-4. To find them again takes as long as the first time, and to keep
// them all would mean to clear room for them in each call. BenchmarkForeign.
const keptPositions = 16

// mitz64Index is GuavaMitz64 as a pure function, for reference.
func mitz64Index(h1, h2 uint64, i int, m uint64) uint64 {
	return (h1 + uint64(i)*h2) & math.MaxInt64 % m
}

// mitz64Add sets no bits behind the last one that lacks: they were seen set, and bits
// are never cleared.
func mitz64Add(b bitArray, d *divide.Divisor, k int, h1, h2 uint64) bool {
	var kept [keptPositions]uint64
	last, at := noBit, 0
	x := h1
	for i := range k {
		pos := d.Remainder63(x)
		if i < len(kept) {
			kept[i] = pos
		}
		if b.get(pos) == 0 {
			last, at = pos, i
		}
		x += h2
	}
	if last == noBit {
		return false
	}
	for _, pos := range kept[:min(at, len(kept))] {
		if pos != last {
			b.set(pos)
		}
	}
	for i := len(kept); i < at; i++ {
		if pos := d.Remainder63(h1 + uint64(i)*h2); pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

// mitz64Contains looks at four bits at a time, as doubleContains does. A loop over the
// last ones would take a tenth more time. BenchmarkForeign.
func mitz64Contains(b bitArray, d *divide.Divisor, k int, h1, h2 uint64) bool {
	x := h1
	for ; k > 4; k -= 4 {
		x1, x2, x3 := x+h2, x+2*h2, x+3*h2
		if b.get(d.Remainder63(x))&b.get(d.Remainder63(x1))&b.get(d.Remainder63(x2))&b.get(d.Remainder63(x3)) == 0 {
			return false
		}
		x = x3 + h2
	}
	all := uint64(1)
	switch k {
	case 4:
		all &= b.get(d.Remainder63(x + 3*h2))
		fallthrough
	case 3:
		all &= b.get(d.Remainder63(x + 2*h2))
		fallthrough
	case 2:
		all &= b.get(d.Remainder63(x + h2))
		fallthrough
	case 1:
		all &= b.get(d.Remainder63(x))
	}
	return all != 0
}

// fold32 maps a signed number to [0, 2^31): itself, or its complement if it is
// negative, without the branch, which would be a coin toss.
func fold32(x int32) uint64 { return uint64(x ^ x>>31) }

// mitz32Index is GuavaMitz32 as a pure function, for reference.
func mitz32Index(h1, _ uint64, i int, m uint64) uint64 {
	x := int32(h1) + int32(i+1)*int32(h1>>32)
	if x < 0 {
		x = ^x
	}
	return uint64(x) % m
}

func mitz32Add(b bitArray, d *divide.Divisor, k int, h1 uint64) bool {
	var kept [keptPositions]uint64
	last, at := noBit, 0
	x, step := int32(h1), int32(h1>>32)
	for i := range k {
		x += step
		pos := d.Remainder63(fold32(x))
		if i < len(kept) {
			kept[i] = pos
		}
		if b.get(pos) == 0 {
			last, at = pos, i
		}
	}
	if last == noBit {
		return false
	}
	for _, pos := range kept[:min(at, len(kept))] {
		if pos != last {
			b.set(pos)
		}
	}
	for i := len(kept); i < at; i++ {
		if pos := d.Remainder63(fold32(int32(h1) + int32(i+1)*step)); pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

// mitz32Contains is as mitz64Contains.
func mitz32Contains(b bitArray, d *divide.Divisor, k int, h1 uint64) bool {
	step := int32(h1 >> 32)
	x := int32(h1) + step
	for ; k > 4; k -= 4 {
		x1, x2, x3 := x+step, x+2*step, x+3*step
		if b.get(d.Remainder63(fold32(x)))&b.get(d.Remainder63(fold32(x1)))&
			b.get(d.Remainder63(fold32(x2)))&b.get(d.Remainder63(fold32(x3))) == 0 {
			return false
		}
		x = x3 + step
	}
	all := uint64(1)
	switch k {
	case 4:
		all &= b.get(d.Remainder63(fold32(x + 3*step)))
		fallthrough
	case 3:
		all &= b.get(d.Remainder63(fold32(x + 2*step)))
		fallthrough
	case 2:
		all &= b.get(d.Remainder63(fold32(x + step)))
		fallthrough
	case 1:
		all &= b.get(d.Remainder63(fold32(x)))
	}
	return all != 0
}
