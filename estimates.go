package bloom

import "math"

// fill returns the share of bits that are set; 0 for the zero BloomFilter, which has no bits.
func (f *BloomFilter) fill(ones uint64) float64 {
	return float64(ones) / max(1, float64(f.scheme.orNone().params.M))
}

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
	case !d.anyRate():
		return ones, math.Pow(f.fill(ones), float64(f.k))
	}
	if n := f.countOf(ones); n < math.MaxUint64 {
		return ones, d.Rate(f.units, int(f.k), n)
	}
	return ones, 1
}
