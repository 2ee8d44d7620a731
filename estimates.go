package bloom

import "math"

// FillRatio returns the share of bits that are set, from 0 to 1, in O(m). It is
// about 0.5 when a filter that [New] sized holds its n keys. While keys are being
// added it is that of some moment of the call.
func (f *BloomFilter) FillRatio() float64 {
	return float64(f.bits.count()) / float64(f.params.M)
}

// EstimatedCount returns how many different keys have most likely been added, in
// O(m), by [EstimatedN] and rounded. Between empty and 2n keys, its standard
// error is below 1/sqrt(n) of the count. A filter with every bit set cannot tell:
// the answer is math.MaxUint64.
func (f *BloomFilter) EstimatedCount() uint64 {
	n := EstimatedN(f.params.M, f.params.K, f.bits.count())
	if math.IsInf(n, 1) {
		return math.MaxUint64
	}
	return uint64(math.Round(n))
}

// EstimatedFalsePositiveRate returns the rate at which keys that were never added
// are answered with true as things stand, in O(m): (x/m)^k with x bits set. It
// passes the promised p when about n keys are in, and is 1 when every bit is set.
func (f *BloomFilter) EstimatedFalsePositiveRate() float64 {
	return math.Pow(f.FillRatio(), float64(f.params.K))
}
