package variants

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	boom "github.com/tylertreat/BoomFilters"
)

const (
	n = 10_000
	p = 0.01
)

// A filter is what is measured of each. The batch is nil if there is none.
type filter struct {
	add, contains func(key []byte) bool
	batch         func(keys [][]byte, found []bool) int
}

func must[T any](f T, err error) T {
	if err != nil {
		panic(err)
	}
	return f
}

var filters = []struct {
	name string
	make func() filter // for n keys
}{
	{"bloom", func() filter {
		f := must(bloom.New(n, p))
		return filter{f.Add, f.Contains, f.ContainsMany}
	}},
	{"scalable-1-layer", func() filter { return grows(n) }},
	{"scalable-5-layers", func() filter { return grows(n/30 + 1) }},
	{"rotating-burst", func() filter { // all keys in one generation
		f := must(rotating.New(n, p, time.Hour))
		return filter{f.Add, f.Contains, f.ContainsMany}
	}},
	{"rotating-spread", func() filter { // keys in all generations of the last window; reading this clock costs nothing
		at, count := time.Unix(0, 0), 0
		f := must(rotating.New(n, p, time.Hour, rotating.WithClock(func() time.Time { return at })))
		add := func(key []byte) bool {
			if count++; count%(n/4) == 0 {
				at = at.Add(15 * time.Minute)
			}
			return f.Add(key)
		}
		return filter{add, f.Contains, f.ContainsMany}
	}},
	{"counting", func() filter {
		f := must(counting.New(n, p))
		return filter{f.Add, f.Contains, f.ContainsMany}
	}},
	{"boom-scalable-1-layer", func() filter { return boomGrows(n) }},
	{"boom-scalable-grown", func() filter { return boomGrows(n/30 + 1) }},
	{"boom-counting", func() filter {
		f := boom.NewDefaultCountingBloomFilter(n, p)
		add := func(key []byte) bool { f.Add(key); return true }
		return filter{add, f.Test, nil}
	}},
}

func grows(n uint64) filter {
	f := must(scalable.New(n, p))
	add := func(key []byte) bool { added, err := f.Add(key); return added && err == nil }
	return filter{add, f.Contains, f.ContainsMany}
}

func boomGrows(n uint) filter {
	f := boom.NewScalableBloomFilter(n, p, 0.8) // its default series
	add := func(key []byte) bool { f.Add(key); return true }
	return filter{add, f.Test, nil}
}

// keys are n keys to add and n absent ones, of 40 bytes.
var keys = func() (k [2 * n][]byte) {
	for i := range k {
		k[i] = fmt.Appendf(nil, "https://example.com/%020d", uint64(i)*0x9e3779b97f4a7c15)
	}
	return k
}()

func filled(make func() filter) filter {
	f := make()
	for _, key := range keys[:n] {
		f.add(key)
	}
	return f
}

// BenchmarkRatios measures the filters in turn, many times, and reports the time of each against
// that of a plain filter, from the fifth percentile of its rounds: turns of other programs hit all
// filters alike.
func BenchmarkRatios(b *testing.B) {
	const perRound = 1000
	found := make([]bool, perRound)
	for _, c := range []struct {
		operation string
		rounds    int
		run       func(f filter, round int) (calls int)
	}{
		{"add", 60, func(f filter, _ int) int {
			for _, key := range keys[:n] {
				f.add(key)
			}
			return n
		}},
		{"hit", 500, func(f filter, round int) int { return lookUp(f, keys[round*97%n%4096:]) }},
		{"miss", 500, func(f filter, round int) int { return lookUp(f, keys[n+round*97%4096:]) }},
		{"batch", 500, func(f filter, round int) int {
			if f.batch == nil {
				return 0
			}
			f.batch(keys[round*613%(2*n-perRound):][:perRound], found)
			return perRound
		}},
	} {
		b.Run("operation="+c.operation, func(b *testing.B) {
			times := make([][]float64, len(filters))
			for range b.N {
				var made [10]filter
				for round := range c.rounds {
					for i := range filters {
						if round == 0 || c.operation == "add" {
							if made[i] = filters[i].make(); c.operation != "add" {
								made[i] = filled(filters[i].make)
							}
						} else {
							c.run(made[i], round) // so that its bits and the keys are in the cache
						}
						began := time.Now()
						if calls := c.run(made[i], round); calls > 0 {
							times[i] = append(times[i], float64(time.Since(began))/float64(calls))
						}
					}
				}
			}
			for i := range filters {
				if slices.Sort(times[i]); len(times[i]) > 0 {
					b.ReportMetric(times[i][len(times[i])/20]/times[0][len(times[0])/20], filters[i].name)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// lookUp looks up a thousand keys in order, so that the keys come from the cache.
func lookUp(f filter, keys [][]byte) (calls int) {
	for _, key := range keys[:1000] {
		f.contains(key)
	}
	return 1000
}
