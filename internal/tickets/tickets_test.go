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

// TestNoTicketTwice: goroutines that take tickets and give some back, and one that takes the rest, get
// n tickets together.
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
