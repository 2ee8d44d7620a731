package guava

import (
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
)

// The strategies of Guava's BloomFilter, with Murmur3 and no seed.
//
// Both use equal steps, as the textbook's double hashing does: two keys with equal start and step modulo m have all
// positions in common. So small filters with a small p have a higher rate than [bloom.New] assumes, because it sizes by
// k independent positions. At p = 1e-6 the measured rate of Mitz64 is 59 times p for n = 100, 8 times for n = 1000 and
// 1.8 times for n = 10,000. The factors of Mitz32 are about half as large. At p = 1 % and n >= 100 the rate is within 4
// % of p. The empty key has the digest (0, 0) and thus only the position 0. [bloom.DoubleHashing] has neither fault.
//
// k is 1 to 255, as in Guava's files.
var (
	// Mitz64 is MURMUR128_MITZ_64, Guava's strategy since version 17. The positions of a
	// digest (h1, h2) are
	//
	//	(h1 + i·h2 mod 2^64) mod 2^63 mod m  for i = 0..k-1
	Mitz64 = bloom.NewStrategy("guava-mitz-64", mitz64)

	// Mitz32 is MURMUR128_MITZ_32, Guava's strategy up to version 16. Later versions still read it. With a and b the
	// low and the high half of h1, as signed 32-bit numbers, the positions are
	//
	//	x_i mod m  for i = 1..k, where x_i = a + i·b mod 2^32, and ^x_i where that is negative
	//
	// Each x_i is below 2^31, so bits from 2^31 on are not used. bloom.New refuses m above 2^31;
	// bloom.NewSchemeWithParams accepts it, because such files exist. For m >= 2^30, New takes up to 9 % more bits
	// because the positions are uneven. There the equal steps add up to 3 % to the rate at p = 1 %, 10 % at 0.1 %, and
	// a factor of 3 at p = 1e-6.
	Mitz32 = bloom.NewStrategy("guava-mitz-32", mitz32)
)

var (
	mitz64 = bloom.Definition{Positions: mitz64Positions, MaxK: maxK}
	mitz32 = bloom.Definition{Positions: mitz32Positions, MaxK: maxK, Rate: mitz32Rate, EstimateCount: mitz32EstimateCount}
)

// mitz32Values is the number of possible values of x_i of Mitz32.
const mitz32Values = 1 << 31

// mitz32Rate is the false-positive rate of Mitz32. Its positions are values below 2^31 modulo m. If m does not divide
// 2^31, the first positions have one value more than the others: at m = 0.71·2^31 half of them have two, the rest one,
// and the rate is 1.4 times that of even positions at p = 1 %. Below m = 2^24 the difference is not measurable.
func mitz32Rate(m uint64, k int, n uint64) float64 {
	if n == 0 {
		return 0
	}
	each, low := mitz32Values/m, mitz32Values%m
	// hit returns the probability that x_i is one of these positions and its bit is set.
	hit := func(positions, values uint64) float64 {
		share := float64(values) / mitz32Values
		return float64(positions) * share * -math.Expm1(-float64(k)*float64(n)*share)
	}
	reached := min(m, mitz32Values)
	uneven := math.Pow(hit(low, each+1)+hit(m-low, each), float64(k)) / rate.Textbook(reached, k, n)
	return min(1, rate.Independent(reached, k, n)*uneven)
}

// mitz32EstimateCount estimates the number of keys as if the positions were distributed evenly, as those of Mitz64.
func mitz32EstimateCount(m uint64, k int, x uint64) float64 {
	return Mitz64.EstimateCount(min(m, mitz32Values), k, min(x, mitz32Values))
}

func mitz64Positions(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
	by := probe.NewDivisor(m)
	return func(h1, h2 uint64, i int) uint64 { return by.Remainder63(h1 + uint64(i)*h2) }, nil
}

func mitz32Positions(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
	by := probe.NewDivisor(m)
	return func(h1, _ uint64, i int) uint64 { return by.Remainder63(fold32(int32(h1) + int32(i+1)*int32(h1>>32))) }, nil
}

// fold32 returns x, or ^x if x is negative. A branch would be mispredicted half the time.
func fold32(x int32) uint64 { return uint64(x ^ x>>31) }
