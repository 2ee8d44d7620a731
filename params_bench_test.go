package bloom

import (
	"fmt"
	"math"
	"testing"
)

// BenchmarkParamsFor sizes for an n and p that nobody has asked for before.
func BenchmarkParamsFor(b *testing.B) {
	for _, s := range []Strategy{DoubleHashing, Blocked} {
		for _, n := range []uint64{16, 100, 1000, 10_000, 1_000_000} {
			for _, p := range []float64{0.1, 0.01, 1e-4, 1e-6} {
				b.Run(fmt.Sprintf("strategy=%s/n=%d/p=%v", s, n, p), func(b *testing.B) {
					b.ReportAllocs()
					p := p
					for b.Loop() {
						p = math.Nextafter(p, 1)
						if _, err := ParamsFor(n, p, s); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
