package main

import "math"

// A tally is what the filters of a cell have shown. The lookups of one filter share the fill
// that it happens to have, so they are not independent. Given the bits, a filter's rate r_i
// is known, and its q_i lookups are: the hits have the mean Σ q_i·r_i and the variance
// Σ q_i·r_i·(1 - r_i). And the r_i are a sample of what filters have.
type tally struct {
	filters          int
	lookups, hits    float64
	expected, spread float64 // Σ q_i·r_i; the standard deviation of r_i by a model, for few filters, or NaN
	variance         float64 // Σ q_i·r_i·(1 - r_i)
	mean, m2         float64 // of the r_i, by Welford's recurrence; NaN if the bits do not say
}

func (t *tally) note(lookups, hits uint64, rate float64) {
	t.filters++
	q := float64(lookups)
	t.lookups += q
	t.hits += float64(hits)
	t.expected += q * rate
	t.variance += q * rate * (1 - rate)
	d := rate - t.mean
	t.mean += d / float64(t.filters)
	t.m2 += d * (rate - t.mean)
}

// measured returns the share of the lookups that were answered with true.
func (t *tally) measured() float64 { return t.hits / t.lookups }

// fewHits is below what number of expected hits the normal distribution, and so a count of
// standard errors, says little.
const fewHits = 20

// direct reports whether lookups tell the rate.
func (t *tally) direct() bool {
	return t.hits >= fewHits || t.expected >= fewHits || math.IsNaN(t.expected)
}

// hitSigmas returns how many standard errors the hits are from what the filters' bits say.
func (t *tally) hitSigmas() float64 {
	if !t.direct() {
		return math.NaN()
	}
	return deviation(t.hits, t.expected, math.Sqrt(t.variance))
}

// rateSpread returns the standard deviation of the rate from filter to filter.
func (t *tally) rateSpread() float64 {
	if t.filters >= manyFilters {
		return math.Sqrt(t.m2 / float64(t.filters-1))
	}
	return t.spread
}

// fillError returns the standard error of mean.
func (t *tally) fillError() float64 { return t.rateSpread() / math.Sqrt(float64(t.filters)) }

// rate is by the lookups if they tell, else by the fill.
func (t *tally) rate() float64 {
	if t.direct() {
		return t.measured()
	}
	return t.mean
}

// rateError is the standard error of measured, of lookups and filters together; for a filter
// whose bits do not tell, of the lookups alone.
func (t *tally) rateError() float64 {
	switch {
	case math.IsNaN(t.mean):
		return math.Sqrt(t.hits) / t.lookups
	case math.IsNaN(t.fillError()):
		return math.Sqrt(t.variance) / t.lookups
	}
	return math.Hypot(math.Sqrt(t.variance)/t.lookups, t.fillError())
}

// above returns by how many standard errors the rate is above p: that of the lookups or of
// the fill, whichever is more.
func (t *tally) above(p float64) float64 {
	x := math.Inf(-1)
	if t.direct() {
		x = max(x, deviation(t.measured(), p, t.rateError()))
	}
	if fill := deviation(t.mean, p, t.fillError()); !math.IsNaN(fill) {
		x = max(x, fill)
	}
	return x
}

// maxSigmas is what chance explains: in a thousand cells, it goes beyond in one run of
// sixteen.
const maxSigmas = 4

func (t *tally) kept(p float64) bool { return t.above(p) <= maxSigmas }

// deviation returns by how many standard errors got differs from want. Filters without any
// spread, as those that hold a key with k = 1, leave only rounding.
func deviation(got, want, err float64) float64 {
	if math.Abs(got-want) <= 1e-9*want {
		return 0
	}
	return (got - want) / err
}
