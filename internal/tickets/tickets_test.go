package tickets

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
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

// TestNoTicketTwice: goroutines that take and give back at the same time get n
// tickets together, and whoever comes when all is quiet gets the rest.
func TestNoTicketTwice(t *testing.T) {
	const n = 200_000
	b := New(n, n)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := 0; b.Take(); i++ {
				if (i+g)%3 == 0 {
					b.Give()
					continue
				}
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	for b.Take() {
		taken.Add(1)
	}
	if got := taken.Load(); got != n {
		t.Fatalf("%d tickets taken, want %d", got, n)
	}
}

// TestLeftIsNeverTooMany: while goroutines take tickets, give them back and so move them from
// cell to cell, Left never says more than those that nobody keeps.
func TestLeftIsNeverTooMany(t *testing.T) {
	const n, kept, movers = 64, 40, 3
	b := New(n, n)
	for range kept {
		b.Take()
	}
	calls := effort.Times(20_000, 5_000_000, 500_000_000)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range movers {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				took := 0
				for took < 1+i%12 && b.Take() {
					took++
				}
				for range took {
					b.Give()
				}
			}
		})
	}
	for range calls {
		if left := b.Left(); left > n-kept {
			t.Errorf("%d left, and %d of %d are kept", left, kept, n)
			break
		}
	}
	stop.Store(true)
	wg.Wait()
	if left := b.Left(); left != n-kept {
		t.Errorf("%d left when all is quiet, want %d", left, n-kept)
	}
}

// TestUsedUp: only when every ticket is used, not when all are taken.
func TestUsedUp(t *testing.T) {
	b := New(100, 100)
	for i := range 100 {
		if !b.Take() || b.UsedUp() {
			t.Fatalf("used up after %d", i)
		}
	}
	for range 99 {
		b.Use()
	}
	b.Give()
	if b.UsedUp() || b.Left() != 1 || !b.Take() {
		t.Fatal("used up, and one was given back")
	}
	b.Use()
	if !b.UsedUp() || b.Left() != 0 || !New(0, 0).UsedUp() {
		t.Fatal("not used up")
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

func BenchmarkTake(b *testing.B) {
	b.Run("cells", func(b *testing.B) {
		box := New(1<<40, 1<<40)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				box.Take()
			}
		})
	})
	b.Run("one counter", func(b *testing.B) {
		var count atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				count.Add(-1)
			}
		})
	})
}
