package testkit

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Line lets all its goroutines go at the same moment, round after round. It spins, because a
// goroutine that is woken comes a hundred adds too late. On a busy machine, spinning goroutines would
// keep the last one from running. So they first wait until all have arrived, and sleep after some
// microseconds, then until all are awake.
type Line struct {
	Runners        uint64
	arrived, awake atomic.Uint64
}

// Wait returns when all goroutines have called it for the round-th time, from 1.
func (l *Line) Wait(round uint64) {
	meet(&l.arrived, round*l.Runners, 1<<12)
	meet(&l.awake, round*l.Runners, 1<<16)
}

// meet counts up and returns when the count has reached all. After patience looks it sleeps.
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
