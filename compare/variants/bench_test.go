package variants

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	boom "github.com/tylertreat/BoomFilters"
)

const p = 0.01

// A filter is what is measured of each.
type filter struct {
	add, contains, remove func(key []byte) bool
	bytes                 uint64
}

// must is for parameters that are constants.
func must[T any](f T, err error) T {
	if err != nil {
		panic(err)
	}
	return f
}

var filters = []struct {
	name string
	make func(n uint64) filter // for n keys, which it will get
}{
	{"bloom", func(n uint64) filter {
		f := bloom.MustNew(n, p)
		return filter{f.Add, f.Contains, nil, f.SizeBytes()}
	}},
	{"scalable-1-layer", func(n uint64) filter { return grows(n) }},
	{"scalable-5-layers", func(n uint64) filter { return grows(n/30 + 1) }},
	{"boom-scalable-1-layer", func(n uint64) filter { return boomGrows(n) }},
	{"boom-scalable-grown", func(n uint64) filter { return boomGrows(n/30 + 1) }},
	{"rotating-4", func(n uint64) filter {
		f := must(rotating.New(n, p, time.Hour))
		return filter{f.Add, f.Contains, nil, f.SizeBytes()}
	}},
	{"rotating-4-spread", func(n uint64) filter { // the keys came evenly, in the last window
		at := time.Unix(0, 0)
		count := uint64(0)
		f := must(rotating.New(n, p, time.Hour, rotating.WithClock(func() time.Time { return at })))
		add := func(key []byte) bool {
			if count++; count%(n/4) == 0 {
				at = at.Add(15 * time.Minute)
			}
			return f.Add(key)
		}
		return filter{add, f.Contains, nil, f.SizeBytes()}
	}},
	{"counting", func(n uint64) filter {
		f := must(counting.New(n, p))
		return filter{f.Add, f.Contains, f.Remove, f.SizeBytes()}
	}},
	{"counting-blocked", func(n uint64) filter {
		f := must(counting.New(n, p, bloom.WithStrategy(bloom.Blocked)))
		return filter{f.Add, f.Contains, f.Remove, f.SizeBytes()}
	}},
	{"boom-counting", func(n uint64) filter {
		f := boom.NewDefaultCountingBloomFilter(uint(n), p)
		add := func(key []byte) bool { f.Add(key); return true }
		return filter{add, f.Test, f.TestAndRemove, uint64(f.Capacity()) * 4 / 8}
	}},
}

func grows(n uint64) filter {
	f := must(scalable.New(n, p))
	add := func(key []byte) bool { added, err := f.Add(key); return added && err == nil }
	return filter{add, f.Contains, nil, 0}
}

func boomGrows(n uint64) filter {
	f := boom.NewScalableBloomFilter(uint(n), p, 0.8) // its own default series
	add := func(key []byte) bool { f.Add(key); return true }
	return filter{add, f.Test, nil, 0}
}

var sizes = []uint64{10_000, 1_000_000}

// key writes key i, of 40 bytes, as long as a short URL.
func key(b *[40]byte, i uint64) []byte {
	copy(b[:], "https://example.com/articles/2026/")
	x := i * 0x9e3779b97f4a7c15
	binary.LittleEndian.PutUint64(b[32:], x^x>>29)
	return b[:]
}

func each(b *testing.B, run func(b *testing.B, n uint64, make func(n uint64) filter)) {
	for _, n := range sizes {
		for _, f := range filters {
			b.Run(fmt.Sprintf("filter=%s/n=%d", f.name, n), func(b *testing.B) { run(b, n, f.make) })
		}
	}
}

// BenchmarkAdd adds new keys to a filter that gets n of them and then is replaced.
func BenchmarkAdd(b *testing.B) {
	each(b, func(b *testing.B, n uint64, make func(n uint64) filter) {
		f := make(n)
		var buf [40]byte
		b.ReportAllocs()
		for i := range uint64(b.N) {
			if i%n == n-1 {
				b.StopTimer()
				f = make(n)
				b.StartTimer()
			}
			f.add(key(&buf, i))
		}
	})
}

// BenchmarkContains asks a filter that holds n keys, for those and for others.
func BenchmarkContains(b *testing.B) {
	for _, which := range []string{"hit", "miss"} {
		b.Run("key="+which, func(b *testing.B) {
			each(b, func(b *testing.B, n uint64, make func(n uint64) filter) {
				f := make(n)
				var buf [40]byte
				for i := range n {
					f.add(key(&buf, i))
				}
				first := uint64(0)
				if which == "miss" {
					first = 1 << 40
				}
				found := 0
				b.ResetTimer()
				for i := range uint64(b.N) {
					if f.contains(key(&buf, first+i*7919%n)) {
						found++
					}
				}
				b.ReportMetric(float64(found)/float64(b.N), "found/op")
			})
		})
	}
}

// BenchmarkAddRemove adds a key to a filter that holds n and removes it again.
func BenchmarkAddRemove(b *testing.B) {
	each(b, func(b *testing.B, n uint64, make func(n uint64) filter) {
		f := make(n)
		if f.remove == nil {
			b.Skip("keys cannot be removed from it")
		}
		var buf [40]byte
		for i := range n {
			f.add(key(&buf, i))
		}
		b.ResetTimer()
		for i := range uint64(b.N) {
			k := key(&buf, n+i)
			f.add(k)
			f.remove(k)
		}
	})
}
