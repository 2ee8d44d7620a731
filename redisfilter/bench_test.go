package redisfilter

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// BenchmarkAdd adds fresh keys, one by one and in batches, by scripts and without: with a
// context that never ends, one with a deadline, and one that may be cancelled.
func BenchmarkAdd(b *testing.B) {
	s := startServer(b)
	client := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true})
	defer client.Close()
	may, cancel := context.WithCancel(bg)
	defer cancel()
	limited, cancel := context.WithTimeout(bg, time.Hour)
	defer cancel()
	for _, c := range []struct {
		name      string
		ctx       context.Context
		size      int
		noScripts bool
		strategy  bloom.Strategy
	}{
		{"batch=1", bg, 1, false, bloom.Blocked2}, {"batch=1/ctx=deadline", limited, 1, false, bloom.Blocked2},
		{"batch=1/ctx=cancel", may, 1, false, bloom.Blocked2},
		{"batch=100", bg, 100, false, bloom.Blocked2}, {"batch=100/noScripts", bg, 100, true, bloom.Blocked2},
		{"batch=100/DoubleHashing", bg, 100, false, bloom.DoubleHashing},
	} {
		b.Run(c.name, func(b *testing.B) {
			s.Client.FlushAll(bg)
			f := open(b, client, "f", 1_000_000, 0.01, noFront, WithBloom(bloom.WithStrategy(c.strategy)))
			f.noScripts.Store(c.noScripts)
			keys := keysOf(0, 100_000)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i+c.size > len(keys) {
					i = 0
				}
				var err error
				if c.size == 1 {
					_, err = f.Add(c.ctx, keys[i])
				} else {
					_, err = f.AddMany(c.ctx, keys[i:i+c.size], nil)
				}
				if err != nil {
					b.Fatal(err)
				}
				i += c.size
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.size), "ns/item")
		})
	}
}

// BenchmarkContains asks for absent keys, by words and by bits.
func BenchmarkContains(b *testing.B) {
	s := startServer(b)
	for _, strategy := range []bloom.Strategy{bloom.Blocked2, bloom.Blocked4, bloom.DoubleHashing} {
		for _, size := range []int{1, 100} {
			b.Run(fmt.Sprintf("strategy=%v/batch=%d", strategy, size), func(b *testing.B) {
				f := open(b, s.Client, fmt.Sprint(strategy), 1_000_000, 0.01, noFront, WithBloom(bloom.WithStrategy(strategy)))
				keys := keysOf(0, size)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f.ContainsMany(bg, keys, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/item")
			})
		}
	}
}

// BenchmarkGoroutines lets goroutines ask for single keys: from some on, their calls go
// together.
func BenchmarkGoroutines(b *testing.B) {
	s := startServer(b)
	client := redis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 64})
	defer client.Close()
	for _, goroutines := range []int{1, 2, 4, 8, 16, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			f := open(b, client, "f", 1_000_000, 0.01, noFront)
			keys := keysOf(0, 1000)
			var all sync.WaitGroup
			each := b.N/goroutines + 1
			for range goroutines {
				all.Go(func() {
					for i := range each {
						if _, err := f.Contains(bg, keys[i%len(keys)]); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// BenchmarkAddKnown adds keys that the front knows.
func BenchmarkAddKnown(b *testing.B) {
	s := startServer(b)
	f := open(b, s.Client, "f", 1_000_000, 0.01)
	if _, err := f.Add(bg, keyOf(0)); err != nil {
		b.Fatal(err)
	}
	key := keyOf(0)
	b.ReportAllocs()
	for b.Loop() {
		f.Add(bg, key)
	}
}
