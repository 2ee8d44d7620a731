package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/compare/internal/filters"
)

// A cell is one line of the table.
type cell struct {
	subject *subject
	kind    kind
	n       uint64
	p       float64
}

func (c cell) String() string {
	return fmt.Sprintf("%s, n = %d, p = %g, %s keys", c.subject.name, c.n, c.p, c.kind.name)
}

// How much is measured. 400 false positives are a relative error of 5 %, a little more leaves
// room for the spread of the filters; where it is cheap, ten thousand of them, 1 %.
const (
	enoughHits   = 440
	goodHits     = 10_000
	cheapLookups = 20_000_000
	sureLookups  = 1e10 // beyond, the fill must tell: it would take minutes
	mostFilters  = 40_000
	manyFilters  = 30        // from here on, the filters' own spread is taken for that of all
	cheapKeys    = 4_000_000 // added over all filters of a cell
	mostKeys     = 30_000_000
)

// filterCount returns how many filters of n keys a cell gets.
func filterCount(n uint64) uint64 {
	if f := min(mostFilters, cheapKeys/n); f >= manyFilters {
		return f
	}
	return max(1, min(manyFilters, mostKeys/n))
}

// lookups returns how many a cell gets, over all filters.
func lookups(rate float64) float64 {
	if q := max(enoughHits/rate, min(goodHits/rate, cheapLookups)); q <= sureLookups {
		return q
	}
	return cheapLookups
}

// A result is what became of a cell.
type result struct {
	cell
	m         uint64
	k         int
	predicted float64 // NaN for others
	tally     tally
	cut       bool  // out of time before there were as many filters and lookups as planned
	err       error // nothing was measured
}

// numberShift gives each filter of a cell a range of numbers of its own: the first n are
// added, those that follow are asked for. So every filter has other keys.
const numberShift = 36

// chunk is how many keys are made at a time; after each, the time is looked at.
const chunk = 4096

// measure fills filters and asks them for keys that were not added, until there were enough
// or the time is over; but one filter is always filled.
func (c cell) measure(until time.Time, any bool) (r result) {
	r = result{cell: c, predicted: math.NaN()}
	if !any {
		r.err = errors.New("no time left")
		return r
	}
	count := filterCount(c.n)
	keys := make([][]byte, chunk)
	for i := range count {
		f, err := c.subject.make(c.n, c.p)
		if err != nil {
			r.err = err
			return r
		}
		number := i << numberShift
		each := func(total uint64, op func(filters.Keys) int) (done uint64, sum int) {
			for done < total && !r.cut {
				size := min(chunk, total-done)
				for j := range keys[:size] {
					keys[j] = c.kind.append(keys[j][:0], number)
					number++
				}
				done += size
				sum += op(filters.Keys{Bytes: keys[:size]})
				r.cut = (i > 0 || done < total) && time.Now().After(until)
			}
			return done, sum
		}
		for done := uint64(0); done < c.n; { // all keys, whatever the time
			r.cut = false
			more, _ := each(c.n-done, f.Add)
			done += more
		}
		if b, ok := f.(filters.Builder); ok {
			b.Build()
		}
		rate := math.NaN()
		if o, ok := f.(interface{ Filter() *bloom.BloomFilter }); ok && c.subject.ours {
			made := o.Filter()
			r.m, r.k = made.Params().M, made.Params().K
			r.predicted = made.Strategy().FalsePositiveRate(r.m, r.k, c.n)
			rate = made.Stats().EstimatedFalsePositiveRate
			if i == 0 {
				r.tally.spread = spread(made)
			}
		}
		expected := r.predicted
		if math.IsNaN(expected) {
			expected = c.p
		}
		asked, hits := each(uint64(math.Ceil(lookups(expected)/float64(count))), f.Contains)
		r.tally.note(asked, uint64(hits), rate)
		if r.cut || !c.subject.ours && r.tally.hits >= goodHits && i >= 200 {
			break // another's rate is not known beforehand: enough is enough
		}
	}
	return r
}

// sections is into how many parts spread cuts a filter.
const sections = 256

// spread estimates from one large filter how much its rate differs from that of the next:
// the rate is the mean of those of its parts, which are nearly independent. That the parts'
// keys have a fixed sum makes it a little smaller than this. NaN for small filters.
func spread(f *bloom.BloomFilter) float64 {
	words := f.Words()
	size := len(words) / 8 / sections * 8
	if size == 0 {
		return math.NaN()
	}
	part, err := bloom.NewSchemeWithParams(bloom.Params{M: uint64(size) * 64, K: f.Params().K}, bloom.WithStrategy(f.Strategy()))
	if err != nil {
		return math.NaN()
	}
	var t tally
	for i := range sections {
		view, err := part.FilterOver(words[i*size : (i+1)*size])
		if err != nil {
			return math.NaN()
		}
		t.note(1, 0, view.Stats().EstimatedFalsePositiveRate)
	}
	return t.rateSpread() / math.Sqrt(sections)
}
