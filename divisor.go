package bloom

import (
	"math"
	"math/bits"
)

// A divisor takes remainders modulo one m, again and again, without dividing: two
// multiplications are a third of the time of a division. BenchmarkRemainder.
//
// With inv = floor((2^64-1)/m) we have inv·m = 2^64 - e for some e in 1..m, so that
// x·inv/2^64 = x/m - x·e/(m·2^64) lies below x/m by less than 1. Its whole part q is
// therefore that of x/m or one less, for every x, and x - q·m is the remainder or m
// more.
//
// Source: Granlund & Montgomery 1994, "Division by invariant integers using
// multiplication", with the last correction left to the remainder.
type divisor struct{ m, inv uint64 }

// newDivisor is for m >= 1.
func newDivisor(m uint64) divisor { return divisor{m, math.MaxUint64 / m} }

// remainder returns x % m. It inlines, and has no branch, which would be a coin toss
// for some m: borrow is 1 if r was the remainder already.
func (d divisor) remainder(x uint64) uint64 {
	q, _ := bits.Mul64(x, d.inv)
	r, borrow := bits.Sub64(x-q*d.m, d.m, 0)
	return r + d.m&-borrow
}
