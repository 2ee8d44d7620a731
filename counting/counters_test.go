package counting

import (
	"math/rand/v2"
	"testing"
)

// TestWordTricks compares the functions on words with loops over their counters.
func TestWordTricks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		word := random.Uint64() & random.Uint64()
		if random.Uint64()%2 == 0 {
			word |= random.Uint64() & random.Uint64() << 2
		}
		var zero, top uint64
		for i := range perWord {
			switch word >> (4 * i) & 15 {
			case 0:
				zero |= 1 << i
			case 15:
				top |= 1 << i
			}
		}
		if got := gather(nonzero(word)); got != ^zero&0xffff {
			t.Fatalf("gather(nonzero(%x)) = %x, want %x", word, got, ^zero&0xffff)
		}
		if got := gather(fulls(word)); got != top {
			t.Fatalf("gather(fulls(%x)) = %x, want %x", word, got, top)
		}
		if gather(scatter(word)) != word&0xffff || scatter(word)&^lowest != 0 {
			t.Fatalf("scatter(%x) = %x", word, scatter(word))
		}
	}
}

// TestCountersStopAtBothEnds: neither end leaks into the neighbours.
func TestCountersStopAtBothEnds(t *testing.T) {
	c := make(counters, 2)
	for i := range uint64(32) {
		for n := range uint64(20) {
			if was := c.up(i); was != min(n, 15) {
				t.Fatalf("counter %d was %d after %d", i, was, n)
			}
		}
		if c.down(i) != 15 || c.get(i) != 15 {
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
