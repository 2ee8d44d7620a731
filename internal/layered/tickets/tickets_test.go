package tickets

import (
	"runtime"
	"testing"
)

// TestAllAreTaken: exactly as many as there are, whatever the digests.
func TestAllAreTaken(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 7, 64, 1000, 12345} {
		b := New(0, n, n)
		var ticket *Cell
		for i := range n {
			if taken, left := b.Count(); taken != i || left != n-i {
				t.Fatalf("n=%d: %d taken and %d left after %d", n, taken, left, i)
			}
			if ticket = b.Take(i * i); ticket == nil {
				t.Fatalf("n=%d: no ticket after %d", n, i)
			}
		}
		if b.Take(1) != nil {
			t.Fatalf("n=%d: one ticket too many", n)
		}
		if ticket != nil {
			ticket.Give()
			if b.Take(2) == nil || b.Take(3) != nil {
				t.Fatalf("n=%d: the ticket that was given back", n)
			}
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
		if got := len(New(0, c.n, c.bits).cells); got != c.cells {
			t.Errorf("%d cells for %d tickets and %d bits, want %d", got, c.n, c.bits, c.cells)
		}
	}
}
