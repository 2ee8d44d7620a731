package counting

import (
	"testing"
)

// TestCountersStopAtBothEnds: neither end leaks into the neighbours.
func TestCountersStopAtBothEnds(t *testing.T) {
	c := make(counters, 2)
	for i := range uint64(32) {
		for n := range uint64(20) {
			if was := c.up(i); was != min(n, 15) {
				t.Fatalf("counter %d was %d after %d", i, was, n)
			}
		}
		if c.down(i) != 15 || c.get(i) != 15 || c.get(max(i, 1)-1) != 15 {
			t.Fatalf("counter %d went back from 15 to %d", i, c.get(i))
		}
	}
	c = make(counters, 2)
	for i := range uint64(32) {
		if c.down(i) != 0 || c.get(i) != 0 {
			t.Fatalf("counter %d went below 0", i)
		}
		c.up(i)
		c.up(i)
		if c.down(i) != 2 || c.get(i) != 1 {
			t.Fatalf("counter %d is %d, want 1", i, c.get(i))
		}
	}
}
