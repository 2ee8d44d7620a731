package bloom

import "math"

// fill returns the share of bits that are set.
func (f *BloomFilter) fill(ones uint64) float64 { return float64(ones) / float64(f.scheme.params.M) }

// countOf returns how many keys have most likely set x bits.
func (f *BloomFilter) countOf(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	n := f.scheme.strategy.EstimatedN(f.scheme.params.M, f.k, x)
	if !(n >= 0 && n < math.MaxUint64) { // an own strategy's EstimatedN may return anything
		return math.MaxUint64
	}
	return uint64(math.Round(n))
}

// onesAndRate looks at each word once, for the number of bits that are set and the rate
// that follows from them.
func (f *BloomFilter) onesAndRate() (ones uint64, rate float64) {
	d := f.scheme.strategy.get()
	if d.onesAndRate != nil {
		return d.onesAndRate(f.bits, f.k)
	}
	switch ones = f.bits.count(); {
	case ones == 0:
		return 0, 0
	case !d.anyRate():
		return ones, math.Pow(f.fill(ones), float64(f.k))
	}
	if n := f.countOf(ones); n < math.MaxUint64 {
		return ones, d.Rate(f.scheme.params.M, f.k, n)
	}
	return ones, 1
}
