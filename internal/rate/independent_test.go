package rate

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// brute is E[(X/m)^k] by the distribution of the number X of set bits, ball by ball, for small m.
func brute(m, k, n int) float64 {
	occupied := make([]float64, m+1)
	occupied[0] = 1
	for range k * n {
		for x := m; x >= 1; x-- {
			occupied[x] = occupied[x]*float64(x)/float64(m) + occupied[x-1]*float64(m-x+1)/float64(m)
		}
		occupied[0] = 0
	}
	rate := 0.0
	for x, prob := range occupied {
		rate += prob * math.Pow(float64(x)/float64(m), float64(k))
	}
	return rate
}

func TestStepwiseAgainstBruteForce(t *testing.T) {
	for _, m := range []int{1, 2, 7, 64, 128, 640} {
		for _, k := range []int{1, 2, 7, 20, 64, 100} {
			for _, n := range []int{1, 2, 10, 60} {
				want := brute(m, k, n)
				require.InEpsilon(t, want, stepwise(uint64(m), k, uint64(n)), 1e-11, "m=%d k=%d n=%d", m, k, n)
				require.InEpsilon(t, want, Independent(uint64(m), k, uint64(n)), 3e-9, "m=%d k=%d n=%d", m, k, n)
			}
		}
	}
}

// TestIndependentAgainstStepwise compares the fast way with the exact one, for all k and from nearly empty to
// full filters.
func TestIndependentAgainstStepwise(t *testing.T) {
	worst, most := 0.0, 200_000
	if testing.Short() {
		most = 20_000
	}
	for k := 1; k <= 255; k += 1 + k/16 {
		for _, n := range []uint64{1, 2, 3, 4, 5, 7, 10, 19, 20, 21, 33, 57, 100, 250, 399, 400, 1000, 5000} {
			if uint64(k*k)*n > uint64(most) {
				break
			}
			for _, load := range []float64{1e-6, 0.001, 0.01, 0.1, 0.3, 0.6, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10, 20} {
				m := uint64(float64(uint64(k)*n)/math.Ln2/load) + 1
				want := stepwise(m, k, n)
				if want < 1e-280 {
					continue
				}
				off := math.Abs(Independent(m, k, n)/want - 1)
				bound := 1e-9
				if k > 30 {
					bound = 3e-9
				}
				require.Less(t, off, bound, "m=%d k=%d n=%d", m, k, n)
				worst = max(worst, off)
			}
		}
	}
	require.Greater(t, worst, 1e-13, "the fast way was never taken")
	t.Logf("worst relative error %.2g", worst)
}

// TestExpandedTakesOverFromContour: on both sides of the change they are alike, and the
// textbook's rate is below both.
func TestExpandedTakesOverFromContour(t *testing.T) {
	const n = expandedFrom
	for k := 1; k <= 64; k++ {
		bound := 6e-8
		if k > 30 {
			bound = 3e-7
		}
		for _, load := range []float64{0.01, 0.1, 0.5, 0.8, 1, 1.5, 2, 5} {
			m := uint64(float64(k*n) / math.Ln2 / load)
			want := contour(m, k, n)
			require.InEpsilon(t, want, expanded(m, k, n), bound, "k=%d load=%v", k, load)
			textbook := math.Pow(-math.Expm1(-float64(k)*n/float64(m)), float64(k))
			require.Less(t, textbook, want, "k=%d load=%v", k, load)
		}
	}
}

func TestIndependentAtItsEdges(t *testing.T) {
	require.Zero(t, Independent(64, 3, 0))
	require.Equal(t, 1.0, Independent(1, 3, 1))
	require.InDelta(t, 1.0/64, Independent(64, 1, 1), 1e-15)
	for _, n := range []uint64{1000, expandedFrom, expandedFrom + 1, 1 << 50, math.MaxUint64} {
		require.InDelta(t, 1, Independent(64, 3, n), 1e-9, "n=%d", n)
		require.InDelta(t, 1, Independent(1, 3, n), 1e-9, "n=%d", n)
	}
	// Steps are no bound where there are more of them: k above any that has a buffer.
	require.InEpsilon(t, brute(2000, 300, 3), Independent(2000, 300, 3), 3e-9)
}

func BenchmarkIndependent(b *testing.B) {
	sum := 0.0
	for _, k := range []int{1, 7, 13, 20, 64} {
		for _, n := range []uint64{10, 100, 1000, 1_000_000} {
			m := uint64(float64(uint64(k)*n) / math.Ln2)
			b.Run(fmt.Sprintf("k=%d/n=%d", k, n), func(b *testing.B) {
				for b.Loop() {
					sum += Independent(m, k, n)
				}
			})
		}
	}
	if sum == 0 {
		b.Fatal("nothing was done")
	}
}

// TestDouble: the number of digests with few positions, by all sequences modulo 2^12 instead of 2^64, and their
// part of the rate.
func TestDouble(t *testing.T) {
	const bits, c = 12, 5 // the multiplier is 5 modulo 8, as that of DoubleHashing
	periods := map[int]int{}
	for x := range 1 << bits { // h1 = h2 = x, for which (c-1)·h1 + h2 has each value once
		period := 1
		for z := (x*c + x) % (1 << bits); z != x; z = (z*c + x) % (1 << bits) {
			period++
		}
		periods[period]++
	}
	require.Equal(t, map[int]int{1: 1, 2: 1, 4: 2, 8: 4}, map[int]int{1: periods[1], 2: periods[2], 4: periods[4], 8: periods[8]})

	for k := 1; k <= 64; k++ {
		m := uint64(k) * 1443 // half of the bits are set by 1000 keys
		part := Double(m, k, 1000) - Independent(m, k, 1000)
		fill := Ones(m, k, 1000) / float64(m)
		want := 0.0
		for j, share := 0, 1.0; 1<<j < k; j++ {
			want += share * 0x1p-64 * math.Pow(fill, float64(int(1)<<j))
			share = float64(int(1) << j)
		}
		require.InDelta(t, want, part, 1e-15*Independent(m, k, 1000)+1e-6*want, "k=%d", k)
	}
	require.InEpsilon(t, 0.89*0x1p-64, Double(64*1443, 64, 1000)-Independent(64*1443, 64, 1000), 0.02)
}
