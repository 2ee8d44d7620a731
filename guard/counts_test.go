package guard

import (
	"math"
	"reflect"
	"testing"
)

// A counter is exact at first, and then within 5 σ.
func TestTally(t *testing.T) {
	var tally tally
	const few = lines * exact / 2 // no line reaches its limit: 32 σ
	for range few {
		tally.sample()
	}
	if got := tally.sum(); got != few {
		t.Errorf("%d calls, counted %d", few, got)
	}
	const calls = 4_000_000
	for range calls {
		tally.sample()
	}
	if got, want := float64(tally.sum()), float64(few+calls); math.Abs(got-want) > 5*16*math.Sqrt(calls) {
		t.Errorf("%.0f calls, counted %.0f", want, got)
	}
	before := tally.sum()
	for range 1000 {
		tally.add()
	}
	if got := tally.sum() - before; got != 1000 {
		t.Errorf("1000 calls, counted %d", got)
	}
}

// Every count but N has a name.
func TestEachCount(t *testing.T) {
	g := must(New("", 1000, 0.01, newMemStore()))
	counts := 0
	g.EachCount(func(name string, value float64) {
		counts++
		if value != 0 {
			t.Errorf("%s is %v", name, value)
		}
	})
	if want := reflect.TypeFor[Counts]().NumField() - 1 + 2; counts != want { // "ready" and the rate
		t.Errorf("%d counts, want %d", counts, want)
	}
}
