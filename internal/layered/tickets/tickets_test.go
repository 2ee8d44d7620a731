package tickets

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestOneGoroutineTakesAll: nothing is left in the other cells.
func TestOneGoroutineTakesAll(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 7, 64, 1000, 12345} {
		b := New(0, n, n)
		for i := range n {
			if taken, left := b.Count(); taken != i || left != n-i {
				t.Fatalf("n=%d: %d taken and %d left after %d", n, taken, left, i)
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
		if got := len(New(0, c.n, c.bits).cells); got != c.cells {
			t.Errorf("%d cells for %d tickets and %d bits, want %d", got, c.n, c.bits, c.cells)
		}
	}
}

// TestCountWhileTicketsMove: no ticket is counted twice when a goroutine empties its cell, gives all tickets back, and
// moves them to its cell again.
func TestCountWhileTicketsMove(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64)) // for many cells
	const n = 1 << 14
	b := New(0, n, n)
	var ended atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !ended.Load() {
				const own = n / 256
				for range own + 1 {
					b.Take()
				}
				for range own + 1 {
					b.Give()
				}
				b.Take()
				b.Give()
			}
		}()
	}
	for range 300_000 {
		if taken, left := b.Count(); left > n || taken > n {
			t.Errorf("%d taken and %d left, of %d", taken, left, n)
			break
		}
	}
	ended.Store(true)
	wg.Wait()
}
