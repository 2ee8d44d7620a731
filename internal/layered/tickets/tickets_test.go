package tickets

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
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

// TestManyTickets: a file may claim any number.
func TestManyTickets(t *testing.T) {
	for _, n := range []uint64{math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1 << 32} {
		if taken, left := New(1, n-1, 64).Count(); taken != 1 || left != n-1 {
			t.Errorf("%d taken and %d left, want 1 and %d", taken, left, n-1)
		}
	}
}

// TestTogether: goroutines take all tickets of one cell at the same time, and keep, lose or give back each. None is
// taken twice, none stays, and no Count takes a kept ticket for another one.
func TestTogether(t *testing.T) {
	const n = 400_000
	b := New(0, n, 1) // four cells
	for i := range uint64(n / 4 * 3) {
		b.Take(1 + i%3)
	}
	var kept, lost, working atomic.Int64
	kept.Store(n / 4 * 3)
	working.Store(3)
	var all testkit.Group
	for range working.Load() {
		all.Go(func() {
			defer working.Add(-1)
			for i := 0; ; i++ {
				ticket := b.Take(0)
				switch {
				case ticket == nil:
					return
				case i%3 == 0:
					kept.Add(1)
				case i%3 == 1:
					ticket.Lose()
					lost.Add(1)
				default:
					ticket.Give()
				}
			}
		})
	}
	for working.Load() > 0 {
		keys := uint64(kept.Load())
		if taken, left := b.Count(); taken < keys || taken+left > n {
			t.Fatalf("%d are taken and %d left, of %d, and %d were kept before", taken, left, n, keys)
		}
		runtime.Gosched() // there may be one processor
	}
	all.Wait()
	if taken, left := b.Count(); left != 0 || taken != uint64(kept.Load()) || taken+uint64(lost.Load()) != n {
		t.Errorf("%d are taken and %d left, of %d, and %d were kept and %d lost", taken, left, n, kept.Load(), lost.Load())
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
