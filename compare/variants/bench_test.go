package variants

import (
	"fmt"
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
	add, contains, remove func(key []byte) bool
	batch                 func(keys [][]byte, found []bool) int
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
		return filter{f.Add, f.Contains, nil, f.ContainsMany}
	}},
	{"scalable-1-layer", func() filter { return grows(n) }},
	{"scalable-5-layers", func() filter { return grows(n/30 + 1) }},
	{"rotating-burst", func() filter { // all keys in one generation
		f := must(rotating.New(n, p, time.Hour))
		return filter{f.Add, f.Contains, nil, f.ContainsMany}
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
		return filter{add, f.Contains, nil, f.ContainsMany}
	}},
	{"counting", func() filter {
		f := must(counting.New(n, p))
		return filter{f.Add, f.Contains, f.Remove, f.ContainsMany}
	}},
	{"boom-scalable-1-layer", func() filter { return boomGrows(n) }},
	{"boom-scalable-grown", func() filter { return boomGrows(n/30 + 1) }},
	{"boom-counting", func() filter {
		f := boom.NewDefaultCountingBloomFilter(n, p)
		add := func(key []byte) bool { f.Add(key); return true }
		return filter{add, f.Test, f.TestAndRemove, nil}
	}},
}

func grows(n uint64) filter {
	f := must(scalable.New(n, p))
	add := func(key []byte) bool { added, err := f.Add(key); return added && err == nil }
	return filter{add, f.Contains, nil, f.ContainsMany}
}

func boomGrows(n uint) filter {
	f := boom.NewScalableBloomFilter(n, p, 0.8) // its default series
	add := func(key []byte) bool { f.Add(key); return true }
	return filter{add, f.Test, nil, nil}
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

// BenchmarkAdd adds new keys to a filter that is replaced when it holds n.
func BenchmarkAdd(b *testing.B) {
	for _, c := range filters {
		b.Run("filter="+c.name, func(b *testing.B) {
			f := c.make()
			for i := range b.N {
				if i%n == n-1 {
					b.StopTimer()
					f = c.make()
					b.StartTimer()
				}
				f.add(keys[i%n])
			}
		})
	}
}

// BenchmarkContains looks up keys in a filter that holds n.
func BenchmarkContains(b *testing.B) {
	for _, which := range []struct {
		name  string
		first int
	}{{"hit", 0}, {"miss", n}} {
		for _, c := range filters {
			b.Run("key="+which.name+"/filter="+c.name, func(b *testing.B) {
				f, found := filled(c.make), 0
				b.ResetTimer()
				for i := range b.N {
					if f.contains(keys[which.first+i*7919%n]) {
						found++
					}
				}
				b.ReportMetric(float64(found)/float64(b.N), "found/op")
			})
		}
	}
}

// BenchmarkContainsMany looks up half as many present as absent keys in batches of 1000.
func BenchmarkContainsMany(b *testing.B) {
	for _, c := range filters {
		b.Run("filter="+c.name, func(b *testing.B) {
			f := filled(c.make)
			if f.batch == nil {
				b.Skip("no batches")
			}
			found := make([]bool, 1000)
			b.ResetTimer()
			for i := 0; i < b.N; i += len(found) {
				first := i * 7 % (2*n - len(found))
				f.batch(keys[first:][:len(found)], found)
			}
		})
	}
}

// BenchmarkAddRemove adds a key to a filter that holds n and removes it again.
func BenchmarkAddRemove(b *testing.B) {
	for _, c := range filters {
		f := filled(c.make)
		if f.remove == nil {
			continue
		}
		b.Run("filter="+c.name, func(b *testing.B) {
			for i := range b.N {
				key := keys[n+i%n]
				f.add(key)
				f.remove(key)
			}
		})
	}
}
