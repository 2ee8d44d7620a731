package bloom

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
)

// A rateCase measures the rate of several independent filters, each filled with
// n keys, on keys that were never added.
type rateCase struct {
	n       uint64
	p       float64
	filters uint64
	probes  uint64 // over all filters
}

// TestRateIsKept compares the measured rate with three numbers: the one that the
// filters' realised fill makes certain (both sides), the one predicted by
// FalsePositiveRate (both sides), and the promised p (one side). The keys are
// fixed, so a failure is one for ever.
func TestRateIsKept(t *testing.T) {
	cases := []rateCase{
		{1, 0.01, 20_000, 400_000},
		{2, 1e-3, 20_000, 2_000_000},
		{10, 0.5, 2000, 200_000},
		{10, 1e-4, 2000, 4_000_000},
		{100, 0.1, 400, 200_000},
		{100, 1e-3, 400, 2_000_000},
		{1000, 0.03, 40, 400_000},
		{10_000, 1e-4, 8, 4_000_000},
		{100_000, 0.01, 2, 400_000},
	}
	if *effort.Long {
		cases = append(cases, rateCase{1_000_000, 0.1, 1, 10_000_000}, rateCase{1_000_000, 1e-3, 4, 40_000_000},
			rateCase{1_000_000, 1e-5, 4, 200_000_000}, rateCase{10_000_000, 0.01, 1, 100_000_000})
	}
	for _, s := range []Strategy{DoubleHashing, SeededHashing, Blocked, Blocked1, Blocked2, Blocked4, Blocked8, SplitBlock} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("strategy=%s/n=%d/p=%g", s, c.n, c.p), func(t *testing.T) {
				t.Parallel()
				c.check(t, s)
			})
		}
	}
	// Where plain double hashing is off by a factor of 50 to 90, and blocked filters
	// sized by the classical formula by one of 30.
	probes := uint64(effort.Times(20_000_000, 4_000_000, 20_000_000)) // check divides those of -short
	for _, s := range []Strategy{DoubleHashing, Blocked, SplitBlock} {
		for _, c := range []rateCase{{3, 1e-6, 2000, probes}, {100, 1e-6, 400, probes}} {
			t.Run(fmt.Sprintf("strategy=%s/n=%d/p=%g", s, c.n, c.p), func(t *testing.T) {
				t.Parallel()
				c.check(t, s)
			})
		}
	}
}

func (c rateCase) check(t *testing.T, s Strategy) {
	if testing.Short() {
		c.filters, c.probes = max(1, c.filters/20), c.probes/20
	}
	var b [40]byte
	add := func(f *BloomFilter, i uint64) { f.Add(key40(&b, i)) }
	contains := func(f *BloomFilter, i uint64) bool { return f.Contains(key40(&b, i)) }
	if !s.NeedsKey() {
		add = func(f *BloomFilter, i uint64) { f.AddDigest(digestOf(i)) }
		contains = func(f *BloomFilter, i uint64) bool { return f.ContainsDigest(digestOf(i)) }
	}
	f := MustNew(c.n, c.p, WithStrategy(s))
	params, s := f.Params(), f.Strategy()
	predicted := s.FalsePositiveRate(params.M, params.K, c.n)
	if predicted > c.p {
		t.Fatalf("%+v: the predicted rate %v is above p", params, predicted)
	}
	each := c.probes / c.filters
	next := uint64(0) // no key twice, in all filters together
	measured, realised, variance := 0.0, 0.0, 0.0
	for range c.filters {
		f.Clear()
		for range c.n {
			add(f, next)
			next++
		}
		rate := f.Stats().EstimatedFalsePositiveRate
		realised += rate * float64(each)
		variance += math.Pow(rate-predicted, 2) * float64(each) * float64(each)
		for range each {
			if contains(f, next) {
				measured++
			}
			next++
		}
	}
	total := float64(c.filters * each)
	noise := math.Sqrt(realised + 1)              // of the probes, given the fill
	spread := math.Sqrt(variance + realised + 1)  // with that of the fill
	limit := c.p*total + 4*math.Sqrt(c.p*total+1) // what p allows
	t.Logf("m=%d k=%d measured=%.3g realised=%.3g predicted=%.3g (%+.1f sigma)",
		params.M, params.K, measured/total, realised/total, predicted, (measured-predicted*total)/spread)
	if math.Abs(measured-realised) > 4*noise {
		t.Errorf("measured %.0f false positives, the realised fill gives %.1f ± %.1f", measured, realised, noise)
	}
	if math.Abs(measured-predicted*total) > 4*spread {
		t.Errorf("measured %.0f false positives, predicted are %.1f ± %.1f", measured, predicted*total, spread)
	}
	if measured > limit+4*(spread-noise) {
		t.Errorf("measured %.0f false positives, p = %v allows %.1f", measured, c.p, limit)
	}
}
