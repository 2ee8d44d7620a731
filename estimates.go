package bloom

import (
	"math"
)

// FillRatio returns the share of bits that are set, from 0 to 1, in O(m). It is
// about 0.5 when a filter that [New] sized holds its n keys. While keys are being
// added it is that of some moment of the call.
func (f *BloomFilter) FillRatio() float64 { return f.fill(f.bits.count()) }

// fill is 0 for the zero BloomFilter, which has no bits.
func (f *BloomFilter) fill(ones uint64) float64 {
	return float64(ones) / max(1, float64(f.scheme.orNone().params.M))
}

// EstimatedCount returns how many different keys have most likely been added,
// whether or not their Add returned true, in O(m), rounded; see [Strategy.EstimatedN].
// Between n/10 and 3n keys, for p <= 0.1, its standard error is below 1/sqrt(n) of
// the count. Far beyond, it rests on the few bits that are not set yet. A filter with
// every bit set cannot tell: the answer is math.MaxUint64.
func (f *BloomFilter) EstimatedCount() uint64 { return f.countOf(f.bits.count()) }

// countOf returns how many keys have most likely set x bits.
func (f *BloomFilter) countOf(x uint64) uint64 {
	if x == 0 {
		return 0 // also of the zero BloomFilter
	}
	n := f.scheme.strategy.EstimatedN(f.scheme.params.M, int(f.k), x)
	if !(n >= 0 && n < math.MaxUint64) { // an own strategy's EstimatedN may return anything
		return math.MaxUint64
	}
	return uint64(math.Round(n))
}

// EstimatedFalsePositiveRate returns the rate at which keys that were never added
// are answered with true as things stand, in O(m). With x bits set it is (x/m)^k;
// for Blocked and SplitBlock, whose blocks are not equally full, the mean of the blocks'
// rates; for a strategy of your own with a Rate, that of EstimatedCount keys. It passes the
// promised p when about n keys are in, and is 1 when every bit is set.
func (f *BloomFilter) EstimatedFalsePositiveRate() float64 {
	_, rate := f.onesAndRate()
	return rate
}

// onesAndRate looks at each word once, for the number of bits that are set and the rate
// that follows from them.
func (f *BloomFilter) onesAndRate() (ones uint64, rate float64) {
	d := f.scheme.orNone().strategy.get()
	if d.onesAndRate != nil {
		return d.onesAndRate(f.bits, int(f.k))
	}
	switch ones = f.bits.count(); {
	case ones == 0:
		return 0, 0 // also of the zero BloomFilter
	case d.Rate == nil:
		return ones, math.Pow(f.fill(ones), float64(f.k))
	}
	if n := f.countOf(ones); n < math.MaxUint64 {
		return ones, d.Rate(f.units, int(f.k), n)
	}
	return ones, 1
}
