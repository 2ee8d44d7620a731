package counting

import (
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

// seedFor is a seed that the strategy can have.
func seedFor(s bloom.Strategy) uint64 {
	if s == bitsandblooms.Strategy {
		return 0
	}
	return 7
}

// TestSameAsPlain: a plain filter with the keys that are left is the same, bit by bit.
func TestSameAsPlain(t *testing.T) {
	for _, s := range strategies {
		for _, params := range []uint64{10, 1000} {
			f := must(params, 0.001, bloom.WithStrategy(s), bloom.WithSeed(seedFor(s)))
			plain := bloom.MustNew(params, 0.001, bloom.WithStrategy(s), bloom.WithSeed(seedFor(s)))
			var b [16]byte
			for i := range 2 * params {
				f.Add(key(&b, i))
			}
			for i := range params {
				f.Remove(key(&b, i))
				plain.Add(key(&b, i+params))
			}
			if !f.BloomFilter().Equal(plain) {
				t.Errorf("%v: differs from %v", f, plain)
			}
			if f.FillRatio() != plain.Stats().FillRatio || f.EstimatedCount() != plain.Stats().EstimatedCount ||
				f.EstimatedFalsePositiveRate() != plain.Stats().EstimatedFalsePositiveRate {
				t.Errorf("%v: other estimates than %v", f, plain)
			}
			if got, want := f.SizeBytes(), 4*plain.SizeBytes(); got != want {
				t.Errorf("%v: %d bytes, want %d", f, got, want)
			}
		}
	}
}
