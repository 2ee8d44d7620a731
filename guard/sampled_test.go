package guard

import (
	"math"
	"testing"
)

// A sampled counter is exact at first, and then within 7 σ, which chance exceeds once in 10^11 runs.
func TestSampled(t *testing.T) {
	var counter sampled
	for range exact {
		counter.add()
	}
	if got := counter.count.Load(); got != exact {
		t.Errorf("%d calls, counted %d", exact, got)
	}
	const calls = 4_000_000
	for range calls {
		counter.add()
	}
	if got, want := float64(counter.count.Load()), float64(exact+calls); math.Abs(got-want) > 7*16*math.Sqrt(calls) {
		t.Errorf("%.0f calls, counted %.0f", want, got)
	}
}
