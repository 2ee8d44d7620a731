package rate

import (
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
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
				require.InEpsilon(t, want, Independent(uint64(m), k, uint64(n)), 1e-9+0.014*float64(k*k)/float64(n*n), "m=%d k=%d n=%d", m, k, n)
			}
		}
	}
}

// TestIndependentIsNeverBelow the exact rate, and above it by no more than the documented share. Filters of this
// library have at most 64 positions. Foreign ones may have more: there, it is too low by up to 5e-6 in filters with
// twice their keys.
func TestIndependentIsNeverBelow(t *testing.T) {
	most := testkit.Times(20_000, 200_000, 5_000_000)
	for k := 1; k <= 255; k += 1 + k/16 {
		for _, n := range []uint64{1, 2, 5, 20, 39, 40, 41, 57, 100, 250, 400, 1000, 5000} {
			if uint64(k*k)*n > uint64(most) {
				break
			}
			for _, load := range []float64{1e-6, 0.001, 0.01, 0.1, 0.3, 0.6, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10, 20} {
				m := uint64(float64(uint64(k)*n)/math.Ln2/load) + 1
				exact := stepwise(m, k, n)
				if exact < 1e-280 {
					continue
				}
				got, share := Independent(m, k, n), float64(k)/float64(n)
				below := 1e-11
				if k > 64 && load == 2 {
					below = 5e-6
				}
				require.GreaterOrEqual(t, got, exact*(1-below), "m=%d k=%d n=%d", m, k, n)
				require.LessOrEqual(t, got, exact*(1+0.014*share*share+1e-9), "m=%d k=%d n=%d", m, k, n)
			}
		}
	}
}

// TestSizesByTheExactRate: sizes by Independent keep p by the exact rate, and are at most one word larger
// than the smallest that do.
func TestSizesByTheExactRate(t *testing.T) {
	larger, sizes := 0, 0
	for _, n := range []uint64{1, 7, 39, 40, 41, 50, 73, 150, 400} {
		for p := 0.5; p > 1e-15; p /= 1 + 40/float64(testkit.Times(2, 20, 200)) {
			if math.Pow(math.Log2(p), 2)*float64(n) > 60_000 {
				break // the exact rate takes long
			}
			search := Search{N: n, P: p, Most: 1 << 20, Unit: 64, MinK: 1, MaxK: 64, StepK: 1,
				Rate: func(units uint64, k int) float64 { return Independent(units*64, k, n) }}
			got, k := search.Smallest()
			require.LessOrEqual(t, stepwise(got*64, k, n), p*(1+1e-11), "n=%d p=%v", n, p)
			search.Rate = func(units uint64, k int) float64 { return stepwise(units*64, k, n) }
			want, _ := search.Smallest()
			require.LessOrEqual(t, got, want+1, "n=%d p=%v", n, p)
			larger += int(got - want)
			sizes++
		}
	}
	t.Logf("%d of %d sizes have one word more", larger, sizes)
}

func TestIndependentAtItsEdges(t *testing.T) {
	require.Zero(t, Independent(64, 3, 0))
	require.Equal(t, 1.0, Independent(1, 3, 1))
	require.InDelta(t, 1.0/64, Independent(64, 1, 1), 1e-15)
	for _, n := range []uint64{1000, 1 << 50, math.MaxUint64} {
		require.InDelta(t, 1, Independent(64, 3, n), 1e-9, "n=%d", n)
		require.InDelta(t, 1, Independent(1, 3, n), 1e-9, "n=%d", n)
	}
	// A k above any that has a buffer.
	require.InEpsilon(t, brute(2000, 300, 3), Independent(2000, 300, 3), 3e-9)
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
