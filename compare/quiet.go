package main

import (
	"sync"
	"time"
)

// freeCores tells how quiet the machine is: how much more work than one goroutine
// as many as there are cores do in the same time, if all they do is calculate. It
// is the number of cores when nobody else is there; where it is less, the figures
// on all cores are those of the others, too.
func freeCores(workers int) float64 {
	one := calculate(1)
	return float64(workers) * one.Seconds() / calculate(workers).Seconds()
}

// calculate returns how long a few milliseconds' work takes on each of some
// goroutines at once.
func calculate(workers int) time.Duration {
	results := make([]uint64, workers)
	start := time.Now()
	var wg sync.WaitGroup
	for w := range results {
		wg.Go(func() {
			x := uint64(w)
			for range 1_000_000 {
				x = mix(x) // each needs the one before
			}
			results[w] = x
		})
	}
	wg.Wait()
	return time.Since(start)
}
