package rotating

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkContains looks up absent keys with the system's monotonic clock, with time.Now, and with a
// clock that stands still. The differences are the cost of reading the clock.
func BenchmarkContains(b *testing.B) {
	at := time.Unix(0, 0)
	for _, c := range []struct {
		name string
		opts []Option
	}{
		{"monotonic", nil},
		{"time.Now", []Option{WithClock(time.Now)}},
		{"still", []Option{WithClock(func() time.Time { return at })}},
	} {
		b.Run("clock="+c.name, func(b *testing.B) {
			f := must(10_000, 0.01, time.Hour, 4, c.opts...)
			var buf [16]byte
			for i := range uint64(10_000) {
				f.Add(key(&buf, i))
			}
			b.ResetTimer()
			for i := range uint64(b.N) {
				f.Contains(key(&buf, 1<<40+i))
			}
		})
	}
}

// BenchmarkLayers adds keys to filters until they have so many layers, and looks keys up then: one layer as in the
// first generation, five as with n/generations keys per generation, and twelve after a first burst.
func BenchmarkLayers(b *testing.B) {
	const keys = 10_000
	for _, c := range []struct {
		layers, n, generations int
	}{{1, 4 * keys, 1}, {5, 4 * keys / 5, 5}, {12, 4 * keys / 85, 1}} {
		made := func(clock *clock) *Filter {
			f := must(uint64(c.n), 0.01, time.Hour, 4, clock.option())
			var buf [16]byte
			for i := range uint64(keys) {
				if i > 0 && i%(keys/uint64(c.generations)) == 0 {
					clock.sleep(f.time.length)
				}
				yes(f.Add(key(&buf, i)))
			}
			return f
		}
		var at clock
		f := made(&at)
		if layers := len(*f.layers.Load()); layers != c.layers {
			b.Fatalf("%d layers, want %d", layers, c.layers)
		}
		name := fmt.Sprintf("layers=%d/op=", c.layers)
		b.Run(name+"add", func(b *testing.B) {
			for done := 0; done < b.N; done += keys {
				made(new(clock))
			}
		})
		var buf [16]byte
		b.Run(name+"hit", func(b *testing.B) {
			for i := range b.N {
				f.Contains(key(&buf, uint64(i%keys)))
			}
		})
		b.Run(name+"miss", func(b *testing.B) {
			for i := range b.N {
				f.Contains(key(&buf, 1<<40+uint64(i)))
			}
		})
	}
}
