package probe

import (
	"math"
	"math/bits"
)

// A Divisor computes remainders modulo m by multiplication, in half the time of a division. See BenchmarkRemainder.
//
// Let 2^(l-1) < m <= 2^l and magic = ceil(2^(63+l)/m), a number of 64 bits. Then magic·m = 2^(63+l) + e for some e < m.
// So x·magic/2^(63+l) exceeds x/m by x·e/(m·2^(63+l)). For x < 2^63 the excess is less than 1/2^l <= 1/m: too little to
// reach the next whole number. For larger x, the quotient may be one too large.
//
// Source: Granlund & Montgomery 1994, "Division by invariant integers using
// multiplication", theorem 4.2.
type Divisor struct {
	m, magic uint64
	mask     uint64 // 2^63-1; 0 for m = 1, because its magic would need 65 bits
	shift    uint   // l-1
}

const below63 = math.MaxInt64

// NewDivisor returns the divisor m, for m >= 1.
func NewDivisor(m uint64) Divisor {
	if m == 1 {
		return Divisor{m: 1}
	}
	l := uint(bits.Len64(m - 1))
	magic, rest := bits.Div64(1<<(l-1), 0, m)
	if rest > 0 {
		magic++
	}
	return Divisor{m, magic, below63, l - 1}
}

// Remainder63 returns the remainder of the low 63 bits of x. It inlines; a test checks that.
func (d *Divisor) Remainder63(x uint64) uint64 {
	x &= d.mask
	q, _ := bits.Mul64(x, d.magic)
	return x - q>>(d.shift&63)*d.m
}

// Remainder returns x % m. It inlines and has no branch. If the quotient is one too large, the borrow of a subtraction
// corrects it.
func (d *Divisor) Remainder(x uint64) uint64 {
	x &= d.mask<<1 | d.mask
	q, _ := bits.Mul64(x, d.magic)
	r, borrow := bits.Sub64(x, q>>(d.shift&63)*d.m, 0)
	return r + d.m&-borrow
}
