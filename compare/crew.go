package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A crew is the goroutines of a measurement, one slab of keys each.
type crew []*slab

func newCrew(workers int) crew {
	c := make(crew, workers)
	for i := range c {
		c[i] = newSlab()
	}
	return c
}

// run makes total keys, a chunk for each worker at a time, and has op process
// them. Only op is timed. It returns the nanoseconds per key of each step, by the
// clock on the wall, and the sum of what op returned.
//
// With several workers all begin a step together and its time lasts until the last
// has finished, so that they always compete with each other and never with one
// that is making keys.
func (c crew) run(total uint64, fill filler, op func(*slab) int) (steps []float64, sum int) {
	count := (total-1)/uint64(len(c)*chunkKeys) + 1
	if len(c) == 1 {
		return c[0].run(total, count, fill, op)
	}
	sums := make([]int, len(c))
	starts, ends := make([]time.Time, len(c)), make([]time.Time, len(c))
	gate := newBarrier(len(c))
	var wg sync.WaitGroup
	for w, s := range c {
		wg.Go(func() {
			for i := range count {
				from, to := part(total, i, count)
				mine, next := part(to-from, uint64(w), uint64(len(c)))
				fill(s, from+mine, int(next-mine))

				gate.wait()
				starts[w] = time.Now()
				sums[w] += op(s)
				ends[w] = time.Now()
				gate.wait()
				if w == 0 { // nobody passes the next gate before this is done
					steps = append(steps, float64(span(starts, ends).Nanoseconds())/float64(to-from))
				}
			}
		})
	}
	wg.Wait()
	for _, s := range sums {
		sum += s
	}
	return steps, sum
}

// run is a crew's for a single worker, on the calling goroutine.
func (s *slab) run(total, count uint64, fill filler, op func(*slab) int) (steps []float64, sum int) {
	for i := range count {
		from, to := part(total, i, count)
		fill(s, from, int(to-from))
		start := time.Now()
		sum += op(s)
		steps = append(steps, float64(time.Since(start).Nanoseconds())/float64(to-from))
	}
	return steps, sum
}

// part returns where the i-th of count nearly equal parts of total begins and ends.
func part(total, i, count uint64) (from, to uint64) {
	return total * i / count, total * (i + 1) / count
}

// span returns the time from the first start to the last end.
func span(starts, ends []time.Time) time.Duration {
	first, last := starts[0], ends[0]
	for i := range starts {
		if starts[i].Before(first) {
			first = starts[i]
		}
		if ends[i].After(last) {
			last = ends[i]
		}
	}
	return last.Sub(first)
}

// A barrier holds workers until all have arrived. It spins: waking a goroutine
// takes as long as some chunks do.
type barrier struct {
	size    int32
	arrived atomic.Int32
	turn    atomic.Int32
}

func newBarrier(size int) *barrier { return &barrier{size: int32(size)} }

func (b *barrier) wait() {
	turn := b.turn.Load()
	if b.arrived.Add(1) == b.size {
		b.arrived.Store(0)
		b.turn.Add(1)
		return
	}
	for spins := 0; b.turn.Load() == turn; spins++ {
		if spins > 10_000 { // someone else has the processor: let them finish
			runtime.Gosched()
		}
	}
}
