package guard

import (
	"math"
	"reflect"
	"testing"
)

// A counter is exact at first, and then within 5 σ.
func TestCounter(t *testing.T) {
	var counter counter
	const few = lines * exact / 2 // no line reaches its limit: 32 σ
	for range few {
		counter.sample()
	}
	if got := counter.sum(); got != few {
		t.Errorf("%d calls, counted %d", few, got)
	}
	const calls = 4_000_000
	for range calls {
		counter.sample()
	}
	if got, want := float64(counter.sum()), float64(few+calls); math.Abs(got-want) > 5*16*math.Sqrt(calls) {
		t.Errorf("%.0f calls, counted %.0f", want, got)
	}
	before := counter.sum()
	for range 1000 {
		counter.add()
	}
	if got := counter.sum() - before; got != 1000 {
		t.Errorf("1000 calls, counted %d", got)
	}
}

// TestMetrics: every count but N has a name.
func TestMetrics(t *testing.T) {
	metrics := must(New("", 1000, 0.01, newMemStore())).Metrics()
	for name, value := range metrics {
		if value != 0 {
			t.Errorf("%s is %v", name, value)
		}
	}
	if want := reflect.TypeFor[Counts]().NumField() - 1 + 2; len(metrics) != want { // "ready" and the rate
		t.Errorf("%v, want %d", metrics, want)
	}
}
