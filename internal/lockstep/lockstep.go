// Package lockstep is for tests that let goroutines race, again and again.
package lockstep

import (
	"runtime"
	"sync/atomic"
)

// A Line is a starting line: it lets all its goroutines go at the same moment, round after
// round. It spins: a goroutine that is woken comes a hundred adds too late.
type Line struct {
	Runners uint64
	arrived atomic.Uint64
}

// Wait returns when all goroutines have called it for the round-th time, from 1.
func (l *Line) Wait(round uint64) {
	l.arrived.Add(1)
	for spins := 0; l.arrived.Load() < round*l.Runners; spins++ {
		if spins%256 == 255 {
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
