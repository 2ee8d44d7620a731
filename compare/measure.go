package main

import (
	"fmt"
	"runtime"
	"time"
)

// The operations that are measured.
const (
	opAdd       = iota // new keys, from an empty filter to a full one
	opDuplicate        // keys that are there, added again
	opHit              // lookups of keys that are there
	opMiss             // lookups of keys that are not
	opMixed            // lookups of either, half of each at random
	opCount
)

var opNames = [opCount]string{"add", "duplicate", "hit", "miss", "mixed"}

// A job is one visit to one peer in one round.
type job struct {
	n       uint64
	p       float64
	round   int
	fills   int    // filters to make and fill; small ones need several for a figure
	probes  uint64 // duplicates and hits to ask of all of them together
	misses  uint64 // misses, more of them: they give the rate, too
	workers int    // goroutines for the measurements on all cores
}

// times are nanoseconds per operation, NaN for what a peer cannot do.
type times [opCount]float64

// An outcome is what one job found.
type outcome struct {
	one, all    times  // on one goroutine and on all cores
	bits        uint64 // of one filter
	yes, misses uint64 // how many of the misses were answered with true
}

// A runner measures a peer.
type runner interface {
	measure(job) (outcome, error)
}

// A stopwatch keeps the nanoseconds per key of each step of each operation.
type stopwatch [opCount][]float64

func (w *stopwatch) note(op int, steps ...float64) { w[op] = append(w[op], steps...) }

// times returns the nanoseconds per operation. On several goroutines too it is
// the time on the wall over all their operations: with perfect scaling, two cores
// halve it.
//
// It is the mean of the middle half of the steps: a step lasts a tenth of a
// millisecond, and if the system takes the processor away for ten, that is not
// the filter's.
func (w *stopwatch) times() (t times) {
	for op := range t {
		t[op] = midmean(w[op])
	}
	return t
}

// inProcess measures a filter written in Go.
type inProcess struct{ *peer }

func (r inProcess) measure(j job) (o outcome, err error) {
	runtime.GC() // what the peer before has left is not for this one to clear
	var one, all stopwatch
	single, every := newCrew(1), newCrew(j.workers)
	for i := range j.fills {
		f, err := r.make(j.n, j.p)
		if err != nil {
			return o, fmt.Errorf("%s: %w", r.name, err)
		}
		base := uint64(j.round*j.fills+i) << fillShift
		fill(single, f, j.n, base, &one)
		o.bits = f.bits()

		share := func(total uint64) uint64 { return max(total/uint64(j.fills), 1) }
		part := visit{f: f, n: j.n, base: base, probes: share(j.probes), misses: share(j.misses), readOnly: r.static}
		if err := part.run(single, &one, &o); err != nil {
			return o, fmt.Errorf("%s: %w", r.name, err)
		}
		if r.safe == safeNone {
			continue
		}
		part.parallel, part.readOnly = true, r.static || r.safe != safeFull
		if err := part.run(every, &all, &o); err != nil {
			return o, fmt.Errorf("%s: %w", r.name, err)
		}
		if part.readOnly {
			continue
		}
		if f, err = r.make(j.n, j.p); err != nil {
			return o, fmt.Errorf("%s: %w", r.name, err)
		}
		fill(every, f, j.n, base, &all)
	}
	o.one, o.all = one.times(), all.times()
	return o, nil
}

// fill adds n keys. A static filter is built when it has them all, and that
// belongs to their cost.
func fill(c crew, f filter, n, base uint64, w *stopwatch) {
	steps, _ := c.run(n, fresh(base), func(s *slab) int { return f.addAll(s.keys) })
	if b, ok := f.(builder); ok {
		start := time.Now()
		b.build()
		perKey := float64(time.Since(start).Nanoseconds()) / float64(n)
		for i := range steps {
			steps[i] += perKey
		}
	}
	w.note(opAdd, steps...)
}

// A visit asks a full filter.
type visit struct {
	f              filter
	n, base        uint64
	probes, misses uint64
	parallel       bool // ask for other keys than on one goroutine
	readOnly       bool
}

func (v visit) run(c crew, w *stopwatch, o *outcome) error {
	add := func(s *slab) int { return v.f.addAll(s.keys) }
	contains := func(s *slab) int { return v.f.containsAll(s.keys) }

	var half uint64
	if v.parallel {
		half = 1 << (fillShift - 1)
	}
	if !v.readOnly {
		steps, _ := c.run(v.probes, among(v.base, v.n, half), add)
		w.note(opDuplicate, steps...)
	}
	steps, found := c.run(v.probes, among(v.base, v.n, half|1<<(fillShift-2)), contains)
	w.note(opHit, steps...)
	if uint64(found) != v.probes {
		return fmt.Errorf("%d of %d keys that were added are not there", v.probes-uint64(found), v.probes)
	}
	steps, found = c.run(v.misses, fresh(v.base|absentBit|half), contains)
	w.note(opMiss, steps...)
	steps, _ = c.run(v.probes, mixed(v.base, v.n, half|3<<(fillShift-3)), contains)
	w.note(opMixed, steps...)
	o.yes += uint64(found)
	o.misses += v.misses
	return nil
}
