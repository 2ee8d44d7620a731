// Package lockstep is for tests and measurements that let goroutines race, again and again.
package lockstep

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Line is a starting line: it lets all its goroutines go at the same moment, round after
// round. It spins: a goroutine that is woken comes a hundred adds too late. Where a machine
// is busy with other things, those that spin would keep from running the one that they wait
// for: so they first wait for all to arrive, where they sleep after some microseconds, and
// then for all to be awake.
type Line struct {
	Runners        uint64
	arrived, awake atomic.Uint64
}

// Wait returns when all goroutines have called it for the round-th time, from 1.
func (l *Line) Wait(round uint64) {
	meet(&l.arrived, round*l.Runners, 1<<12)
	meet(&l.awake, round*l.Runners, 1<<16)
}

// meet counts up and returns when all have, and sleeps after so many looks.
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

// Dawdle takes some nanoseconds, more or less depending on the round and the goroutine, so
// that they do not always come in the same order.
func Dawdle(round, goroutine int) {
	for range round * (2*goroutine + 1) % 31 {
		runtime.KeepAlive(round)
	}
}
