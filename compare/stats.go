package main

import (
	"math"
	"slices"
)

// quartiles returns the values that a quarter, half and three quarters of the
// samples lie below, interpolated between neighbours (Hyndman & Fan 1996, type 7:
// what R, NumPy and spreadsheets do). All are NaN for no samples.
func quartiles(samples []float64) (q1, median, q3 float64) {
	sorted := slices.Sorted(slices.Values(samples))
	return quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)
}

func median(samples []float64) float64 {
	_, m, _ := quartiles(samples)
	return m
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// midmean returns the mean of the middle half of the samples, NaN for none. Like
// the median it does not notice outliers; unlike it, it sees both halves of what
// comes in two kinds, as the adds to an empty filter and to a fuller one.
func midmean(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	middle := sorted[len(sorted)/4 : len(sorted)-len(sorted)/4]
	sum := 0.0
	for _, x := range middle {
		sum += x
	}
	return sum / float64(len(middle))
}

// exceeds reports whether yes of asked answers are more than a rate of p can
// explain: by three standard deviations of the binomial, and by 2 %, because one
// filter's fill differs from another's by that much.
func exceeds(yes, asked uint64, p float64) bool {
	if asked == 0 {
		return false
	}
	expected := p * float64(asked)
	return float64(yes) > expected*1.02+3*math.Sqrt(expected*(1-p))
}
