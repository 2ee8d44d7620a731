package main

import (
	"math"

	"github.com/seed3447c163/bloom"
)

// A tally is what the filters of a cell have shown.
//
// The probes of one filter share the fill that it happens to have, so they are not
// independent: with q_i probes of filter i, whose rate is r_i, the variance of
// hits/probes is
//
//	(E[r(1-r)]·Q + Var(r)·Σ q_i²) / Q²,  Q = Σ q_i
//
// The first part is that of the probes, the second that of the filters. More probes
// do nothing against the second.
type tally struct {
	filters      int
	probes, hits float64
	squares      float64 // Σ q_i²
	hitSquares   float64 // Σ hits_i²
	hitProbes    float64 // Σ hits_i·q_i

	mean, m2 float64 // of the r_i, by Welford's recurrence
	known    bool    // the r_i are known, from the bits
	spread   float64 // standard deviation of r_i by a model, for few filters
}

// manyFilters is from where on the filters' own spread is taken for that of all.
const manyFilters = 30

func (t *tally) note(probes, hits uint64, rate float64) {
	t.filters++
	q, h := float64(probes), float64(hits)
	t.probes += q
	t.hits += h
	t.squares += q * q
	t.hitSquares += h * h
	t.hitProbes += h * q
	if !math.IsNaN(rate) {
		t.known = true
		d := rate - t.mean
		t.mean += d / float64(t.filters)
		t.m2 += d * (rate - t.mean)
	}
}

// measured returns the share of the probes that were answered with true.
func (t *tally) measured() float64 { return t.hits / t.probes }

// rateSpread returns the standard deviation of the rate from filter to filter.
func (t *tally) rateSpread() float64 {
	if t.filters >= manyFilters {
		return math.Sqrt(t.m2 / float64(t.filters-1))
	}
	return t.spread
}

// fillError returns the standard error of mean, the filters' average rate.
func (t *tally) fillError() float64 { return t.rateSpread() / math.Sqrt(float64(t.filters)) }

// probeError returns the standard error of measured if the expected rate is r.
func (t *tally) probeError(r float64) float64 {
	if t.probes == 0 {
		return math.Inf(1)
	}
	if t.known {
		s := t.rateSpread()
		own := max(r*(1-r)-s*s, 0) * t.probes // E[r(1-r)] = r(1-r) - Var(r)
		return math.Sqrt(own+s*s*t.squares) / t.probes
	}
	binomial := math.Sqrt(r*(1-r)*t.probes) / t.probes
	if t.filters < manyFilters {
		return binomial
	}
	// The linearised variance of a ratio of sums over clusters (Cochran 1977,
	// "Sampling techniques", section 2.11).
	got := t.measured()
	residuals := t.hitSquares - 2*got*t.hitProbes + got*got*t.squares
	f := float64(t.filters)
	return max(binomial, math.Sqrt(residuals*f/(f-1))/t.probes)
}

// A verdict compares what was measured with what was predicted and asked for.
type verdict struct {
	direct   bool    // enough hits are expected for probes to tell
	rate     float64 // measured, by probes if they tell, else from the fill
	relative float64 // its standard error, relative to the expected rate
	sigmas   float64 // the probes' deviation from the prediction, NaN if they do not tell
	fill     float64 // the filters' average rate by their bits, NaN if unknown
	fillSig  float64 // its deviation from the prediction
	above    float64 // by how many sigmas the rate is above p; the larger of both
}

// fewHits is below what number of expected hits the normal distribution, and so a
// count of sigmas, says little.
const fewHits = 20

// maxSigmas is what chance explains: in a thousand cells, it goes beyond in one run
// of sixteen.
const maxSigmas = 4

func (t *tally) judge(p, predicted float64) verdict {
	expected := predicted
	if math.IsNaN(expected) {
		expected = t.measured()
	}
	v := verdict{sigmas: math.NaN(), fill: math.NaN(), fillSig: math.NaN(), above: math.Inf(-1)}
	v.direct = expected*t.probes >= fewHits || t.hits >= fewHits || !t.known
	if t.known {
		v.fill = t.mean
		v.fillSig = deviation(t.mean, predicted, t.fillError())
		v.rate, v.relative = t.mean, t.fillError()/expected
		v.above = deviation(t.mean, p, t.fillError())
	}
	if v.direct {
		e := t.probeError(expected)
		v.rate, v.relative = t.measured(), e/expected
		v.sigmas = deviation(v.rate, predicted, e)
		v.above = max(v.above, deviation(v.rate, p, t.probeError(p)))
	}
	return v
}

func (v verdict) kept() bool { return v.above <= maxSigmas }

// deviation returns by how many standard errors got differs from want. Filters
// without any spread, as those that hold a key with k = 1, leave only rounding.
func deviation(got, want, err float64) float64 {
	d := got - want
	if math.Abs(d) <= 1e-9*want {
		return 0
	}
	return d / err
}

// independentSpread returns the standard deviation of the rate (X/m)^k from filter
// to filter, by the delta method: k·r·sd(X)/E[X]. The variance of the number X of
// occupied bins is that of Johnson & Kotz 1977 for large m, m·q·(1 - q·(1 + kn/m)),
// where q is the share of empty ones.
func independentSpread(m uint64, k int, n uint64) float64 {
	q := bloom.ZeroProbability(m, k, n)
	load := float64(k) * float64(n) / float64(m)
	sd := math.Sqrt(max(0, q*(1-q*(1+load))) / float64(m)) // of X/m
	return float64(k) * math.Pow(1-q, float64(k-1)) * sd
}

// sections is into how many parts blockedSpread cuts a filter.
const sections = 256

// blockedSpread estimates from one large blocked filter how much its rate differs
// from that of the next: the rate is the mean of those of its parts, which are
// nearly independent. That the parts' numbers of keys have a fixed sum makes it a
// little smaller than this.
func blockedSpread(f *bloom.BloomFilter) float64 {
	params, words := f.Params(), f.Words()
	blocks := params.M / 512 / sections
	if blocks == 0 {
		return math.NaN()
	}
	part, err := bloom.NewSchemeWithParams(bloom.Params{M: blocks * 512, K: params.K}, bloom.WithStrategy(f.Strategy()))
	if err != nil {
		return math.NaN()
	}
	var t tally
	for i := range uint64(sections) {
		view, err := part.FilterOver(words[i*blocks*8 : (i+1)*blocks*8])
		if err != nil {
			return math.NaN()
		}
		t.note(0, 0, view.EstimatedFalsePositiveRate())
	}
	return t.rateSpread() / math.Sqrt(sections)
}
