package main

import (
	"math"
	"time"
)

// A cell is one line of the table.
type cell struct {
	subject *subject
	kind    kind
	n       uint64
	p       float64
}

// A result is what became of a cell.
type result struct {
	cell
	m         uint64
	k         int
	predicted float64 // NaN for peers
	tally     tally
	verdict   verdict
	cut       bool  // out of time before there were as many filters and probes as planned
	err       error // nothing was measured
	took      time.Duration
}

// How much is measured. 400 hits are a relative error of 5 %, a little more leaves
// room for the spread of the filters; where it is cheap, ten thousand hits, 1 %.
const (
	enoughHits   = 440
	goodHits     = 10_000
	cheapProbes  = 20_000_000
	sureProbes   = 1e10 // beyond, the fill must tell: it would take minutes
	mostFilters  = 40_000
	cheapKeys    = 4_000_000  // added over all filters of a cell
	dearKeys     = 30_000_000 // for the sake of manyFilters
	enoughSample = 200        // filters of a contrast, before it may stop at goodHits
)

// filters returns how many filters of n keys a cell gets.
func filters(n uint64) int {
	f := min(mostFilters, cheapKeys/n)
	if f < manyFilters {
		f = max(1, min(manyFilters, dearKeys/n))
	}
	return int(f)
}

// probes returns how many lookups a cell gets, over all filters.
func probes(rate float64) uint64 {
	q := max(enoughHits/rate, min(goodHits/rate, cheapProbes))
	if q > sureProbes {
		q = cheapProbes
	}
	return uint64(q)
}

// cost is a guess of the nanoseconds that a cell takes, to do the cheap ones first.
func (c cell) cost() float64 {
	bits := math.Ceil(-math.Log2(c.p))
	each := 30 + bits
	if c.n >= 1_000_000 {
		each += 10 * bits // cache misses
	}
	lookup := 20.0
	if c.subject.name == "SeededHashing" {
		each, lookup = each+8*bits, 40
	}
	return float64(filters(c.n))*(float64(c.n)*each+float64(c.n)) + float64(probes(c.p))*lookup
}

// clockEvery is after how many lookups the time is looked at.
const clockEvery = 1 << 16

// measure fills filters and asks them for keys that were not added, until there were
// enough or the time is over; but one filter is always filled.
func (c cell) measure(until time.Time) (r result) {
	start := time.Now()
	r.cell = c
	defer func() { r.took = time.Since(start) }()
	s, err := c.subject.open(c.n, c.p)
	if err != nil {
		r.err = err
		return r
	}
	r.m, r.k, r.predicted = s.m, s.k, s.predicted
	expected := s.predicted
	if !c.subject.ours {
		expected = c.p
	}
	want := filters(c.n)
	each := (probes(expected) + uint64(want) - 1) / uint64(want)
	buf := make([]byte, 0, 64)
	for i := range want {
		if r.cut = i > 0 && time.Now().After(until); r.cut {
			break
		}
		f := s.next()
		number := firstNumber(i)
		for range c.n {
			buf = c.kind.append(buf[:0], number)
			f.Add(buf)
			number++
		}
		if f, ok := f.(sealer); ok {
			f.Seal()
		}
		rate := math.NaN()
		if s.rate != nil {
			rate = s.rate()
		}
		asked, hits := uint64(0), uint64(0)
		for asked < each && !r.cut {
			for range min(clockEvery, each-asked) {
				buf = c.kind.append(buf[:0], number)
				if f.Contains(buf) {
					hits++
				}
				number++
				asked++
			}
			r.cut = asked < each && time.Now().After(until)
		}
		r.tally.note(asked, hits, rate)
		// A contrast's rate is not known beforehand: enough is enough.
		if !c.subject.ours && r.tally.hits >= goodHits && i+1 >= min(want, enoughSample) {
			break
		}
		if r.cut {
			break
		}
	}
	if s.spread != nil && r.tally.filters < manyFilters {
		r.tally.spread = s.spread()
	}
	r.verdict = r.tally.judge(c.p, s.predicted)
	return r
}
