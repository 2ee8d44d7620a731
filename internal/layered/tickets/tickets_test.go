package tickets

import (
	"runtime"
	"testing"
)

// TestOneGoroutineTakesAll: nothing is left in the other cells.
func TestOneGoroutineTakesAll(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 7, 64, 1000, 12345} {
		b := New(n, n)
		for i := range n {
			if left := b.Left(); left != n-i {
				t.Fatalf("n=%d: %d left after %d", n, left, i)
			}
			if !b.Take() {
				t.Fatalf("n=%d: no ticket after %d", n, i)
			}
		}
		if b.Take() {
			t.Fatalf("n=%d: one ticket too many", n)
		}
		b.Give()
		if !b.Take() || b.Take() {
			t.Fatalf("n=%d: the ticket that was given back", n)
		}
	}
}

// TestFewCells: few tickets have few cells, and so have many for few bits.
func TestFewCells(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	for _, c := range []struct {
		n, bits uint64
		cells   int
	}{{1 << 20, 1 << 20, 256}, {1000, 1 << 20, 16}, {1 << 63, 1000, 16}, {1 << 63, 1, 4}, {0, 1 << 20, 4}} {
		if got := len(New(c.n, c.bits).cells); got != c.cells {
			t.Errorf("%d cells for %d tickets and %d bits, want %d", got, c.n, c.bits, c.cells)
		}
	}
}
