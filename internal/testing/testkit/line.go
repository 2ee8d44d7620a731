package testkit

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Line is a barrier for goroutines: they start at the same moment, round after round. The goroutines spin, because
// waking one takes as long as a hundred adds. On a busy machine, spinning goroutines would keep the last one from
// running. So they first wait until all have arrived, with sleeps after some microseconds, and then until all are
// awake.
type Line struct {
	Runners        uint64
	arrived, awake atomic.Uint64
}

// Wait returns when all goroutines have called it with this round. Rounds are 1, 2, 3, …
func (l *Line) Wait(round uint64) {
	meet(&l.arrived, round*l.Runners, 1<<12)
	meet(&l.awake, round*l.Runners, 1<<16)
}

// meet adds 1 to count and returns when count has reached all. After patience spins it sleeps between them.
func meet(count *atomic.Uint64, all uint64, patience int) {
	count.Add(1)
	for spins := 0; count.Load() < all; spins++ {
		switch {
		case spins > patience:
			time.Sleep(time.Microsecond)
		case spins%256 == 255:
			runtime.Gosched() // there may be fewer processors than goroutines
		}
	}
}
