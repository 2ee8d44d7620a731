package rotating

import (
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
