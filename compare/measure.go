package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/seed3447c163/bloom/compare/internal/filters"
)

// The operations that are measured.
const (
	opAdd   = iota // new keys, from an empty filter to a full one
	opAgain        // keys that are there, added again
	opHit          // lookups of keys that are there
	opMiss         // lookups of keys that are not
	opMixed        // lookups of either, at random
	opCount
)

var opNames = [opCount]string{"add", "again", "hit", "miss", "mixed"}

// A job is one visit to one peer in one round.
type job struct {
	n       uint64
	p       float64
	round   int
	fills   int    // filters to make and fill; small ones need several for a figure
	probes  uint64 // lookups of each kind, over all of them
	misses  uint64 // more of them: they give the rate, too
	workers int    // goroutines for the measurements on all cores
}

// An outcome is what one job found.
type outcome struct {
	one, all    [opCount]float64 // ns per operation on one goroutine and on all cores; NaN: cannot be done
	bits        uint64           // of one filter
	yes, misses uint64           // how many of the misses were answered with true
}

// visit measures a filter written in Go.
func visit(p *filters.Peer, j job) (o outcome, err error) {
	runtime.GC() // what the peer before has left is not for this one to clear
	crews := []crew{newCrew(1, p.Hashed), newCrew(j.workers, p.Hashed)}
	if p.Safe == filters.None {
		crews = crews[:1]
	}
	var watches [2][opCount][]float64
	for i := range j.fills {
		base := uint64(j.round*j.fills+i) << fillShift
		var f filters.Filter
		for all := len(crews) - 1; all >= 0; all-- { // the last one filled is the one that is asked
			if all == 1 && (p.Static || p.Safe != filters.Full) {
				continue
			}
			if f, err = p.Make(j.n, j.p); err != nil {
				return o, fmt.Errorf("%s: %w", p.Name, err)
			}
			watches[all][opAdd] = append(watches[all][opAdd], fill(crews[all], f, j.n, base)...)
		}
		o.bits = f.Bits()
		for all, c := range crews {
			salt, probes, misses := uint64(all)<<(fillShift-1), max(j.probes/uint64(j.fills), 1), max(j.misses/uint64(j.fills), 1)
			ask := func(op int, total uint64, number numbering) uint64 {
				work := f.Contains
				if op == opAgain {
					work = f.Add
				}
				steps, sum := c.run(total, number, work)
				watches[all][op] = append(watches[all][op], steps...)
				return uint64(sum)
			}
			if !p.Static && (all == 0 || p.Safe == filters.Full) {
				ask(opAgain, probes, among(base, j.n, salt))
			}
			found := ask(opHit, probes, among(base, j.n, salt|1<<(fillShift-2)))
			if found != probes && !p.Floor {
				return o, fmt.Errorf("%s: %d of %d keys that were added are not there", p.Name, probes-found, probes)
			}
			yes := ask(opMiss, misses, fresh(base|absentBit|salt))
			ask(opMixed, probes, mixed(base, j.n, salt|3<<(fillShift-3)))
			if !p.Floor {
				o.yes, o.misses = o.yes+yes, o.misses+misses
			}
		}
	}
	for op := range opCount {
		o.one[op], o.all[op] = midmean(watches[0][op]), quarter(watches[1][op])
	}
	return o, nil
}

// fill adds n keys. A static filter is built when it has them all, and that belongs to
// their cost.
func fill(c crew, f filters.Filter, n, base uint64) []float64 {
	steps, _ := c.run(n, fresh(base), f.Add)
	if b, ok := f.(filters.Builder); ok {
		start := time.Now()
		b.Build()
		perKey := float64(time.Since(start).Nanoseconds()) / float64(n)
		for i := range steps {
			steps[i] += perKey
		}
	}
	return steps
}

// midmean returns the mean of the middle half of the samples, NaN for none. Like the median
// it does not notice outliers, such as a step during which the system took the processor
// away; unlike it, it sees both halves of what comes in two kinds, as the adds to an empty
// filter and to a fuller one.
func midmean(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	middle := sorted[len(sorted)/4 : len(sorted)-len(sorted)/4]
	sum := 0.0
	for _, x := range middle {
		sum += x
	}
	return sum / float64(len(middle))
}

// quarter returns what a quarter of the samples are below, NaN for none. For several
// goroutines, as a step takes long if the system stops one of them: on a busy machine, more
// than half do.
func quarter(samples []float64) float64 {
	if len(samples) == 0 {
		return nan
	}
	return slices.Sorted(slices.Values(samples))[len(samples)/4]
}

// median interpolates between the two in the middle; NaN for none.
func median(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	half := len(sorted) / 2
	return (sorted[half] + sorted[(len(sorted)-1)/2]) / 2
}

// exceeds reports whether yes of asked answers are more than a rate of p can explain: by
// three standard deviations of the binomial, and by 2 %, because one filter's fill differs
// from another's by that much.
func exceeds(yes, asked uint64, p float64) bool {
	expected := p * float64(asked)
	return float64(yes) > expected*1.02+3*math.Sqrt(expected*(1-p))
}
