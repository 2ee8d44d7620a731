package redistest

import (
	"context"
	"slices"
	"testing"
	"time"
)

// ByTurns measures two sets in batches of 100 fresh keys, from number first on, which they add by
// turns or ask for. It reports medians, microseconds a key of the whole call, as those of names,
// and how many times as fast as the first the second is. It returns the number of the next key.
func ByTurns(b *testing.B, add bool, first int, names [2]string, sets [2]Set) (next int) {
	const size = 100
	var times [2][]time.Duration
	for b.Loop() {
		keys := KeysOf(first, first+size)
		first += size
		for i, set := range sets {
			began := time.Now()
			var err error
			if add {
				_, err = set.AddMany(context.Background(), keys, nil)
			} else {
				_, err = set.ContainsMany(context.Background(), keys, nil)
			}
			if err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	var medians [2]float64
	for i, t := range times {
		slices.Sort(t)
		medians[i] = float64(t[len(t)/2].Nanoseconds()) / 1000 / size
		b.ReportMetric(medians[i], names[i]+"-µs/key")
	}
	b.ReportMetric(medians[0]/medians[1], "x-"+names[0])
	return first
}
