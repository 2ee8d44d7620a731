package guava

import (
	"math"

	"github.com/seed3447c163/bloom/internal/rate"
)

// The rate of Mitz32, whose positions are values below 2^31 modulo m. Where that
// is no multiple of m, some positions have one value more than others: at m = 0.71·2^31
// half of them have two, the rest one, and the rate is 1.4 times that of even ones at
// p = 1 %, and 2.8 times at 1e-6. At m < 2^24 nobody could tell. (That is for independent values; what
// equal steps add to it is said at the strategy.)

// mitz32Rate is the false-positive rate of Mitz32.
func mitz32Rate(m uint64, k int, n uint64) float64 {
	if n == 0 {
		return 0
	}
	s := spreadOver(mitz32Values, m)
	return min(1, rate.Independent(s.reach(), k, n)*s.factor(k, n))
}

// mitz32EstimatedN is how many keys have most likely set x bits.
func mitz32EstimatedN(m uint64, k int, x uint64) float64 {
	return spreadOver(mitz32Values, m).estimatedN(k, x)
}

// A spread says how often each of m positions is the remainder of a random value:
// those below low with probability lowShare, the others with highShare.
type spread struct {
	m, low              uint64
	lowShare, highShare float64
}

// spreadOver returns the spread of so many values over m positions.
func spreadOver(values, m uint64) spread {
	each := values / m
	return spread{m, values % m, float64(each+1) / float64(values), float64(each) / float64(values)}
}

// rate returns the share of probes that find a bit set, to the k-th power, if the
// positions below low that are set are lowSet and the others highSet of them.
func (s spread) rate(lowSet, highSet float64, k int) float64 {
	return math.Pow(math.Min(1, lowSet*s.lowShare+highSet*s.highShare), float64(k))
}

// ones returns how many positions are set after n keys, below low and from there on.
func (s spread) ones(k int, n float64) (low, high float64) {
	probes := -float64(k) * n
	return float64(s.low) * -math.Expm1(probes*s.lowShare), float64(s.m-s.low) * -math.Expm1(probes*s.highShare)
}

// factor is how much larger the rate is than that of even positions.
func (s spread) factor(k int, n uint64) float64 {
	low, high := s.ones(k, float64(n))
	return s.rate(low, high, k) / rate.Textbook(s.reach(), k, n)
}

// reach is the number of positions that any value has.
func (s spread) reach() uint64 {
	if s.highShare == 0 {
		return s.low
	}
	return s.m
}

// estimatedN returns how many keys most likely set x positions, by bisection: n is at
// least that of even positions, which coincide less.
func (s spread) estimatedN(k int, x uint64) float64 {
	least := Mitz64.EstimatedN(s.reach(), k, min(x, s.reach()))
	if s.highShare == 0 || s.low == 0 || math.IsInf(least, 1) {
		return least
	}
	most := least / (s.highShare * float64(s.m)) // as if all positions were as rare as the rarest
	for range 60 {
		n := (least + most) / 2
		if low, high := s.ones(k, n); low+high < float64(x) {
			least = n
		} else {
			most = n
		}
	}
	return most
}
