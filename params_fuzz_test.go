package bloom

import (
	"testing"
)

// FuzzParamsFor: for any n and p there is either an error or parameters that
// keep p, and no panic.
func FuzzParamsFor(f *testing.F) {
	f.Add(uint64(1_000_000), 0.01)
	f.Add(uint64(1), 0.5)
	f.Add(uint64(0), 2.0)
	f.Add(uint64(1)<<63, 1e-300)
	f.Fuzz(func(t *testing.T, n uint64, p float64) {
		params, err := ParamsFor(n, p, DoubleHashing)
		if err != nil {
			return
		}
		if rate := DoubleHashing.FalsePositiveRate(params.M, params.K, n); !(rate <= p) {
			t.Fatalf("n=%d p=%v: %+v has rate %v", n, p, params, rate)
		}
		if params.M == 0 || params.M%64 != 0 || params.K < 1 || params.K > maxK {
			t.Fatalf("n=%d p=%v: %+v", n, p, params)
		}
	})
}
