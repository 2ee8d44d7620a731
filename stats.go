package bloom

import "math"

// Stats describes a filter at one moment, for monitoring. It marshals to JSON. For expvar, publish
// a function that returns it.
//
// Calls of Add are not counted, because a counter that all goroutines share would cost more than the Add.
// EstimatedCount is estimated from the set bits. For exact numbers, let each goroutine count its calls of Add and the
// true results.
type Stats struct {
	Params
	Strategy  string `json:"strategy"`   // name of the strategy
	Hash      string `json:"hash"`       // name of the hash
	SizeBytes uint64 `json:"size_bytes"` // memory of the bits

	// Ones is the number of set bits, about M/2 if a filter of [New] holds its n keys.
	Ones uint64 `json:"ones"`
	// EstimatedCount is the number of different keys that were added, see [Strategy.EstimateCount].
	EstimatedCount uint64 `json:"estimated_count"`
	// EstimatedFalsePositiveRate is the rate of the filter as it is now.
	EstimatedFalsePositiveRate float64 `json:"estimated_false_positive_rate"`
}

// Stats takes one pass over the bits, in O(m): about 0.1 to 0.2 ms per megabyte, twice that for Blocked. While keys are
// added, it describes some moment during the call. For a custom strategy without Rate whose positions are not
// independent, the rate is too low, see [Strategy.FalsePositiveRate].
func (f *BloomFilter) Stats() Stats {
	s := f.scheme.must()
	ones, rate := f.measure()
	return Stats{
		Params:    s.params,
		Strategy:  s.strategy.Name(),
		Hash:      s.hash.name,
		SizeBytes: f.SizeBytes(),

		Ones:                       ones,
		EstimatedCount:             f.countOf(ones),
		EstimatedFalsePositiveRate: rate,
	}
}

// OverP reports whether the rate is above P because there are too many keys. It is false if chance may be the reason:
// if EstimatedCount is at most six standard deviations above N. For N >= 10,000, OverP is true before the rate reaches
// 2·P. For P > 0.9, chance alone can set all bits, and then OverP is true. OverP is false if P is unknown.
func (s Stats) OverP() bool {
	n, k := float64(max(1, s.N)), float64(s.K)
	c := k * n / float64(s.M)
	// The formula is equation 12 of Whang, Vander-Zanden & Taylor 1990, "A linear-time probabilistic counting
	// algorithm", with k bits per key. The last term is for blocks of 256 bits: the number of keys per block varies by
	// chance.
	variance := n * ((math.Expm1(c)-c)/(c*k) + c*k/512)
	tooMany := s.EstimatedCount == math.MaxUint64 || float64(s.EstimatedCount) > n+6*math.Sqrt(variance)
	return tooMany && s.P > 0 && s.EstimatedFalsePositiveRate > s.P
}

// countOf returns the most likely number of keys for x set bits.
func (f *BloomFilter) countOf(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	return wholeKeys(f.scheme.strategy.estimate(f.scheme.params.M, f.k, x))
}

// measure returns the number of set bits and the rate for them. It loads each word once.
func (f *BloomFilter) measure() (ones uint64, rate float64) {
	return f.scheme.strategy.measure(f.bits, f.scheme.params.M, f.k)
}
