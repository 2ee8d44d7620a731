package main

import (
	"slices"
	"sync"
	"time"

	"github.com/seed3447c163/bloom/compare/internal/filters"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

// sharedKeys is the chunk of one of several goroutines: so few that most chunks are over
// before the system takes a processor away from one of them.
const sharedKeys = 2048

// A crew is the goroutines of a measurement, one slab of keys each.
type crew []*slab

func newCrew(workers int, hashed bool) crew {
	c := make(crew, workers)
	for i := range c {
		c[i] = newSlab(hashed)
	}
	return c
}

// run makes total keys, a chunk for each worker at a time, and has op process them. Only op
// is timed. It returns the nanoseconds per key, by the clock on the wall, of each step, and
// the sum of what op returned.
//
// Several workers begin a step together, and its time lasts until the last has finished, so
// that they always compete with each other and never with one that is making keys.
func (c crew) run(total uint64, number numbering, op func(filters.Keys) int) (steps []float64, sum int) {
	chunk := chunkKeys
	if len(c) > 1 {
		chunk = sharedKeys
	}
	count := (total-1)/uint64(len(c)*chunk) + 1
	sums, starts, ends := make([]int, len(c)), make([]time.Time, len(c)), make([]time.Time, len(c))
	gate := lockstep.Line{Runners: uint64(len(c))}
	work := func(w int) {
		for i := range count {
			from, to := part(total, i, count)
			mine, next := part(to-from, uint64(w), uint64(len(c)))
			c[w].fill(number, from+mine, int(next-mine))

			gate.Wait(2*i + 1)
			starts[w] = time.Now()
			sums[w] += op(c[w].Keys)
			ends[w] = time.Now()
			gate.Wait(2*i + 2)
			if w == 0 { // nobody passes the next gate before this is done
				took := slices.MaxFunc(ends, time.Time.Compare).Sub(slices.MinFunc(starts, time.Time.Compare))
				steps = append(steps, float64(took.Nanoseconds())/float64(to-from))
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < len(c); w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	for _, s := range sums {
		sum += s
	}
	return steps, sum
}

// part returns where the i-th of count nearly equal parts of total begins and ends.
func part(total, i, count uint64) (from, to uint64) {
	return total * i / count, total * (i + 1) / count
}

// freeCores is how much more work than one goroutine as many as there are workers do in the
// same time, if all they do is calculate: less than workers on a busy machine.
func freeCores(workers int) float64 {
	calculate := func(workers int) float64 {
		start, results := time.Now(), make([]uint64, workers)
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
		return time.Since(start).Seconds()
	}
	one := calculate(1)
	return float64(workers) * one / calculate(workers)
}
