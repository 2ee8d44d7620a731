package redisbloom

import (
	"context"
	"testing"
)

// BenchmarkAdd adds fresh keys, one by one and in batches: with a context that never
// ends, and with one that may, which costs a goroutine for each call.
func BenchmarkAdd(b *testing.B) {
	s := startServer(b)
	may, cancel := context.WithCancel(bg)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		size int
	}{{"batch=1/ctx=background", bg, 1}, {"batch=1/ctx=cancel", may, 1}, {"batch=100/ctx=background", bg, 100}, {"batch=100/ctx=cancel", may, 100}} {
		b.Run(c.name, func(b *testing.B) {
			s.Client.FlushAll(bg)
			f := open(b, s.Client, "f", 1_000_000, 0.01, noFront)
			keys := keysOf(0, 100_000)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i+c.size > len(keys) {
					i = 0
				}
				if _, err := addEach(c.ctx, f, keys[i:i+c.size]); err != nil {
					b.Fatal(err)
				}
				i += c.size
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.size), "ns/item")
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
