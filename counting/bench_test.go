package counting

import (
	"testing"

	"github.com/seed3447c163/bloom"
)

// BenchmarkContains and BenchmarkAddRemove measure few positions per key and, at p = 1e-6, many.
func BenchmarkContains(b *testing.B) {
	eachFilter(b, func(b *testing.B, f *Filter) {
		var buf [16]byte
		for i := range uint64(b.N) {
			f.Contains(key(&buf, i))
		}
	})
}

func BenchmarkAddRemove(b *testing.B) {
	eachFilter(b, func(b *testing.B, f *Filter) {
		var buf [16]byte
		for i := range uint64(b.N) {
			k := key(&buf, i)
			f.Add(k)
			f.Remove(k)
		}
	})
}

func eachFilter(b *testing.B, run func(b *testing.B, f *Filter)) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		for _, p := range []float64{0.01, 1e-6} {
			f := must(10_000, p, bloom.WithStrategy(s))
			var buf [16]byte
			for i := range uint64(10_000) {
				f.Add(key(&buf, 1<<40+i))
			}
			b.Run("strategy="+s.Name()+"/"+map[float64]string{0.01: "p=0.01", 1e-6: "p=1e-6"}[p], func(b *testing.B) { run(b, f) })
		}
	}
}
