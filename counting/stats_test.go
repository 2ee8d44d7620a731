package counting

import (
	"math"
	"slices"
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

// TestSameAsPlain: a plain filter with the keys that are left is the same, bit by bit, and has the
// same numbers.
func TestSameAsPlain(t *testing.T) {
	for _, s := range strategies {
		for _, n := range []uint64{0, 10, 1000, 30_000} {
			f := must(max(n, 1), 0.001, bloom.WithStrategy(s), bloom.WithSeed(seedFor(s)))
			plain := bloom.MustNew(max(n, 1), 0.001, bloom.WithStrategy(s), bloom.WithSeed(seedFor(s)))
			var b [16]byte
			for i := range 2 * n {
				f.Add(key(&b, i))
			}
			for i := range n {
				f.Remove(key(&b, i))
				plain.Add(key(&b, i+n))
			}
			if !f.BloomFilter().Equal(plain) {
				t.Errorf("%v: differs from %v", f, plain)
			}
			got, want := f.Stats(), plain.Stats()
			if rate := got.EstimatedFalsePositiveRate; math.Abs(rate-want.EstimatedFalsePositiveRate) > 1e-9*rate && slices.Index(strategies, s) < custom {
				t.Errorf("%v: rate %v, want %v", f, rate, want.EstimatedFalsePositiveRate)
			} else if math.Abs(rate-want.EstimatedFalsePositiveRate) > 0.05*rate {
				t.Errorf("%v: rate %v, want about %v", f, rate, want.EstimatedFalsePositiveRate)
			}
			want.SizeBytes, want.EstimatedFalsePositiveRate = f.SizeBytes(), got.EstimatedFalsePositiveRate
			if got != want {
				t.Errorf("%v: %+v, want %+v", f, got, want)
			}
			if got, want := f.SizeBytes(), 4*plain.SizeBytes(); got > want || got+24 < want {
				t.Errorf("%v: %d bytes, want about %d", f, got, want)
			}
		}
	}
}

// TestStatsTakeNoMemory: they are for a scrape every few seconds.
func TestStatsTakeNoMemory(t *testing.T) {
	f := must(100_000, 0.01)
	if allocs := testing.AllocsPerRun(5, func() { f.Stats() }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
