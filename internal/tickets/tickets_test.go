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
		b := New(n)
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
		b.Refill(3)
		if b.Left() != 3 {
			t.Fatalf("n=%d: %d left after Refill(3)", n, b.Left())
		}
	}
}

// TestNoTicketTwice: goroutines that take and give back at the same time get n
// tickets together, and whoever comes when all is quiet gets the rest.
func TestNoTicketTwice(t *testing.T) {
	const n = 200_000
	b := New(n)
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

func TestIdle(t *testing.T) {
	b := New(1)
	if !b.Idle() {
		t.Fatal("a new box is not idle")
	}
	first, second := b.Enter(), b.Enter()
	if b.Idle() {
		t.Fatal("idle with two inside")
	}
	first.Leave()
	if b.Idle() {
		t.Fatal("idle with one inside")
	}
	done := make(chan bool)
	go func() { // from another stack than it entered from
		runtime.Gosched()
		second.Leave()
		close(done)
	}()
	<-done
	if !b.Idle() {
		t.Fatal("not idle after both left")
	}
}

func BenchmarkTake(b *testing.B) {
	b.Run("cells", func(b *testing.B) {
		box := New(1 << 40)
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
