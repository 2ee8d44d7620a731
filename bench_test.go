package bloom

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// The sizes: at 1 %, 12 kB, in the first-level cache, and 48 MB, beyond the last.
var benchSizes = []uint64{10_000, 40_000_000}

const benchP = 0.01

// full returns a filter that holds the keys 0..n-1. Benchmarks share them: the
// large ones take seconds to fill.
func full(s Strategy, n uint64) *BloomFilter {
	key := fmt.Sprint(s, n)
	fullMu.Lock()
	defer fullMu.Unlock()
	if f, ok := fullFilters[key]; ok {
		return f
	}
	f := MustNew(n, benchP, WithStrategy(s))
	workers := uint64(runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var b [40]byte
			for i := w; i < n; i += workers {
				f.Add(key40(&b, i))
			}
		})
	}
	wg.Wait()
	fullFilters[key] = f
	return f
}

var (
	fullMu      sync.Mutex
	fullFilters = map[string]*BloomFilter{}
)

// benchEach runs op over all built-in strategies and sizes, on one goroutine and
// on all processors. op gets a key of 40 bytes, made on the spot from a number
// that never comes twice: a list of keys would be learned by the branch predictor
// and compete for the cache. The number's high half tells goroutines apart.
// Making the key takes about 2 ns of each figure.
func benchEach(b *testing.B, key string, setup func(Strategy, uint64) *BloomFilter, number func(i, n uint64) uint64, op func(f *BloomFilter, key []byte, i uint64) bool) {
	for _, s := range builtins {
		for _, n := range benchSizes {
			for _, parallel := range []bool{false, true} {
				goroutines := "1"
				if parallel {
					goroutines = "all"
				}
				b.Run(fmt.Sprintf("strategy=%s/n=%d/key=%s/goroutines=%s", s, n, key, goroutines), func(b *testing.B) {
					f := setup(s, n)
					var yes, id atomic.Uint64
					b.ReportAllocs()
					b.ResetTimer()
					if parallel {
						b.RunParallel(func(pb *testing.PB) {
							first, count := id.Add(1)<<40, uint64(0)
							var buf [40]byte
							for i := first; pb.Next(); i++ {
								if op(f, key40(&buf, number(i, n)), i) {
									count++
								}
							}
							yes.Add(count)
						})
					} else {
						var buf [40]byte
						count := uint64(0)
						for i := range uint64(b.N) {
							if op(f, key40(&buf, number(i+1<<40, n)), i) {
								count++
							}
						}
						yes.Store(count)
					}
					b.StopTimer()
					b.ReportMetric(float64(f.params.M)/float64(n), "bits/key")
					b.ReportMetric(float64(yes.Load())/float64(b.N), "true/op")
				})
			}
		}
	}
}

func absent(i, _ uint64) uint64  { return i }
func present(i, n uint64) uint64 { return reduce(mix(^i), n) }

// BenchmarkAdd compares the strategies at adding keys that are new (fresh: to a
// filter that is emptied when it holds n keys; half full on average) and keys that
// are there (duplicate: to a full filter). true/op is the share of adds that won.
func BenchmarkAdd(b *testing.B) {
	empty := func(s Strategy, n uint64) *BloomFilter { return MustNew(n, benchP, WithStrategy(s)) }
	benchEach(b, "fresh", empty, absent, func(f *BloomFilter, key []byte, i uint64) bool {
		if i%f.params.N == 0 { // on all goroutines: each empties it after its n
			f.Clear()
		}
		return f.Add(key)
	})
	benchEach(b, "duplicate", full, present, func(f *BloomFilter, key []byte, _ uint64) bool { return f.Add(key) })
}

// BenchmarkContains compares the strategies at keys that are there (hit) and at
// keys that are not (miss), in a full filter. true/op of the misses is the
// measured false-positive rate.
func BenchmarkContains(b *testing.B) {
	contains := func(f *BloomFilter, key []byte, _ uint64) bool { return f.Contains(key) }
	benchEach(b, "hit", full, present, contains)
	benchEach(b, "miss", full, absent, contains)
}

// BenchmarkNew is the search for m and k, and the allocation.
func BenchmarkNew(b *testing.B) {
	for _, n := range []uint64{1, 100, 1000, 1_000_000} {
		for _, p := range []float64{0.01, 1e-9} {
			b.Run(fmt.Sprintf("n=%d/p=%g", n, p), func(b *testing.B) {
				for b.Loop() {
					MustNew(n, p)
				}
			})
		}
	}
}
