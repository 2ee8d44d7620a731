package bloom

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// The sizes: at 1 %, 12 kB, in the first-level cache, and 48 MB, beyond the last.
var benchSizes = []uint64{10_000, 40_000_000}

const benchP = 0.01

// benchSchemes returns the schemes that benchmarks compare: every strategy with its default hash, and SplitBlock with
// RapidHash, which the guide recommends for fast lookups.
func benchSchemes(n uint64) (all []*Scheme) {
	for _, s := range builtins {
		all = append(all, must(NewScheme(n, benchP, WithStrategy(s))))
	}
	return append(all, must(NewScheme(n, benchP, WithStrategy(SplitBlock), WithHash(RapidHash))))
}

// benchName names the parts of a scheme that change the time.
func benchName(s *Scheme) string {
	return fmt.Sprintf("strategy=%v/hash=%v/p=%v/n=%d", s.Strategy(), s.Hash(), s.Params().P, s.Params().N)
}

// full returns a filter that holds the keys 0..n-1. Benchmarks share them: the
// large ones take seconds to fill.
func full(s *Scheme) *BloomFilter {
	if f, ok := fullFilters[benchName(s)]; ok {
		return f
	}
	n, f := s.Params().N, must(s.Filter())
	workers := uint64(runtime.GOMAXPROCS(0))
	var wg testkit.Group
	for w := range workers {
		wg.Go(func() {
			var b [40]byte
			for i := w; i < n; i += workers {
				f.Add(key40(&b, i))
			}
		})
	}
	wg.Wait()
	fullFilters[benchName(s)] = f
	return f
}

var fullFilters = map[string]*BloomFilter{}

// A keyRing makes keys of 40 bytes from numbers that never repeat. The branch predictor would
// learn a list of keys, and the list would compete for the cache. Each key is written 32 calls
// before it is used, because a load right after the store would stall. That takes about 2 ns.
type keyRing [64][40]byte

func (r *keyRing) next(i, number uint64) []byte {
	key40(&r[(i+32)%64], number)
	return r[i%64][:]
}

// benchEach runs op over schemes and sizes, on one goroutine and on all
// processors. The high half of the keys' numbers tells goroutines apart.
func benchEach(b *testing.B, key string, setup func(*Scheme) *BloomFilter, number func(i, n uint64) uint64, op func(f *BloomFilter, key []byte, i uint64) bool) {
	for _, n := range benchSizes {
		for _, s := range benchSchemes(n) {
			for _, parallel := range []bool{false, true} {
				goroutines := "1"
				if parallel {
					goroutines = "all"
				}
				b.Run(fmt.Sprintf("%s/key=%s/goroutines=%s", benchName(s), key, goroutines), func(b *testing.B) {
					f := setup(s)
					var yes, id atomic.Uint64
					work := func(more func() bool) {
						first, count := id.Add(1)<<40, uint64(0)
						var keys keyRing
						for i := first; more(); i++ {
							if op(f, keys.next(i, number(i, n)), i) {
								count++
							}
						}
						yes.Add(count)
					}
					b.ReportAllocs()
					b.ResetTimer()
					if parallel {
						b.RunParallel(func(pb *testing.PB) { work(pb.Next) })
					} else {
						left := b.N
						work(func() bool { left--; return left >= 0 })
					}
					b.StopTimer()
					b.ReportMetric(float64(f.Params().M)/float64(n), "bits/key")
					b.ReportMetric(float64(yes.Load())/float64(b.N), "true/op")
				})
			}
		}
	}
}

func absent(i, _ uint64) uint64  { return i }
func present(i, n uint64) uint64 { return probe.Reduce(mix(^i), n) }

// mixed is a present or an absent key at random, which a branch predictor cannot learn.
func mixed(i, n uint64) uint64 {
	if mix(i)>>63 == 0 {
		return absent(i, n)
	}
	return present(i, n)
}

// BenchmarkAdd adds new keys (fresh: to a filter that is emptied when it holds n keys, and half
// full on average) and present keys (duplicate: to a full filter). true/op is the share of adds
// that won.
func BenchmarkAdd(b *testing.B) {
	empty := func(s *Scheme) *BloomFilter { return must(s.Filter()) }
	benchEach(b, "fresh", empty, absent, func(f *BloomFilter, key []byte, i uint64) bool {
		if i%f.Params().N == 0 { // on all goroutines: each empties it after its n
			f.Clear()
		}
		return f.Add(key)
	})
	benchEach(b, "duplicate", full, present, func(f *BloomFilter, key []byte, _ uint64) bool { return f.Add(key) })
}

// BenchmarkContains looks up present keys (hit), absent keys (miss), and half of each in random
// order (mixed) in a full filter. true/op of the misses is the measured false-positive rate.
func BenchmarkContains(b *testing.B) {
	contains := func(f *BloomFilter, key []byte, _ uint64) bool { return f.Contains(key) }
	benchEach(b, "hit", full, present, contains)
	benchEach(b, "miss", full, absent, contains)
	benchEach(b, "mixed", full, mixed, contains)
}

// BenchmarkHash is what each hash adds to a lookup: hits in a small blocked filter.
func BenchmarkHash(b *testing.B) {
	for name, opt := range hashOptions() {
		b.Run("hash="+name, func(b *testing.B) {
			f := MustNew(10_000, benchP, WithStrategy(Blocked), opt)
			addKeys(f, 10_000)
			var keys keyRing
			for i := range uint64(b.N) {
				f.Contains(keys.next(i, probe.Reduce(mix(i), 10_000)))
			}
		})
	}
}

// BenchmarkBatch is a key of a batch of 512, against one by one, in a large filter.
// The batch is made outside of the measured time.
func BenchmarkBatch(b *testing.B) {
	const size = 512
	buffers, keys, answers := new([size][40]byte), make([][]byte, size), make([]bool, size)
	for i := range keys {
		keys[i] = buffers[i][:]
	}
	for _, s := range benchSchemes(benchSizes[1]) {
		for name, op := range map[string]func(f *BloomFilter){
			"op=contains/batch=true":  func(f *BloomFilter) { f.ContainsMany(keys, answers) },
			"op=add/batch=true":       func(f *BloomFilter) { f.AddMany(keys, answers) },
			"op=contains/batch=false": func(f *BloomFilter) { each(keys, answers, f.Contains) },
			"op=add/batch=false":      func(f *BloomFilter) { each(keys, answers, f.Add) },
		} {
			b.Run(fmt.Sprintf("%s/%s", benchName(s), name), func(b *testing.B) {
				f := full(s)
				if strings.HasPrefix(name, "op=add") {
					f = must(s.Filter())
					f.bits.clear() // the first touch of a page costs more than many adds
				}
				next := uint64(0)
				for done := 0; done < b.N; done += size {
					b.StopTimer()
					for i := range buffers {
						key40(&buffers[i], next)
						next++
					}
					b.StartTimer()
					op(f)
				}
			})
		}
	}
}

// BenchmarkFill makes and fills whole filters of 10,000 keys, for each strategy and hash. ns/key is the least time of
// them all, per key.
func BenchmarkFill(b *testing.B) {
	numbers := make([]uint64, ratioKeys)
	for i := range numbers {
		numbers[i] = uint64(i) << 32
	}
	ways := []struct {
		name string
		fill func(s *Scheme, keys [][]byte)
	}{
		{"Add", func(s *Scheme, keys [][]byte) { each(keys, nil, must(s.Filter()).Add) }},
		{"AddMany", func(s *Scheme, keys [][]byte) { must(s.Filter()).AddMany(keys, nil) }},
		{"Builder.Add", func(s *Scheme, keys [][]byte) {
			builder := must(s.Builder())
			for _, key := range keys {
				builder.Add(key)
			}
			builder.Filter()
		}},
		{"Builder.AddMany", func(s *Scheme, keys [][]byte) {
			builder := must(s.Builder())
			builder.AddMany(keys)
			builder.Filter()
		}},
	}
	for _, strategy := range Strategies() {
		for name, hash := range hashOptions() {
			if strategy.NeedsKey() {
				name, hash = "its own", WithSeed(1)
			}
			for _, way := range ways {
				b.Run(fmt.Sprintf("strategy=%v/hash=%s/by=%s", strategy, name, way.name), func(b *testing.B) {
					s, least := must(NewScheme(ratioKeys, benchP, WithStrategy(strategy), hash)), time.Duration(math.MaxInt64)
					for range b.N {
						for i := range numbers {
							numbers[i]++
						}
						keys := ratioLength{40, 0}.keys(numbers)
						start := time.Now()
						way.fill(s, keys)
						least = min(least, time.Since(start))
					}
					b.ReportMetric(float64(least)/ratioKeys, "ns/key")
					b.ReportMetric(0, "ns/op") // which has the making of keys, too
				})
			}
			if strategy.NeedsKey() {
				break
			}
		}
	}
}

func each(keys [][]byte, answers []bool, op func(key []byte) bool) {
	for i, key := range keys {
		batch.Answer(op(key), answers, i)
	}
}
