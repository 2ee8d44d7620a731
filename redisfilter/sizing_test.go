package redisfilter

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
)

// trueRate is the rate over shards of Poisson loads, term by term.
func trueRate(s bloom.Scheme, mean float64) float64 {
	rate := 0.0
	for j := uint64(1); float64(j) < mean+60+12*math.Sqrt(mean); j++ {
		lg, _ := math.Lgamma(float64(j) + 1)
		if share := math.Exp(float64(j)*math.Log(mean) - mean - lg); share > 1e-30 {
			rate += share * s.Strategy().FalsePositiveRate(s.Params().M, s.Params().K, j)
		}
	}
	return rate
}

// TestShardsKeepTheRate holds what is computed for small shards, where the fullest ones
// decide, to the promise; and large ones, where nothing is computed.
func TestShardsKeepTheRate(t *testing.T) {
	const shards = 64
	for _, strategy := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, guava.Mitz32} {
		for _, p := range []float64{0.9, 0.5, 1e-1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-12} {
			for _, n := range []uint64{1, 16, 64, 2 * 64, 3 * 64, 5 * 64, 16 * 64, 50 * 64, 200 * 64, 800 * 64, manyKeys * 64} {
				s, _, err := layoutFor(n, p, shards, []bloom.Option{bloom.WithStrategy(strategy)})
				require.NoError(t, err)
				if rate := trueRate(s, float64(n)/shards); rate > p {
					t.Errorf("%v, n = %d, p = %v, %d shards: %v = %.2f p", strategy, n, p, shards, rate, rate/p)
				}
			}
		}
	}
}

// TestRateOfSmallShards measures it where it was 43 times p with one deviation of
// room.
func TestRateOfSmallShards(t *testing.T) {
	const n, p, shards, rounds, asked = 1000, 1e-6, 1000, 20, 50_000
	yes := 0
	for round := range rounds {
		l, err := NewLocal(n, p, WithShards(shards))
		require.NoError(t, err)
		addEach(bg, l, keysOf(round*n, (round+1)*n))
		found, _ := askEach(bg, l, keysOf(1e6+round*asked, 1e6+(round+1)*asked))
		yes += count(found)
	}
	require.Less(t, float64(yes), rounds*asked*p+4*math.Sqrt(rounds*asked*p))
}

// TestShardSizes pins what is part of the layout, also where shards of their own size
// are possible and the whole is not.
func TestShardSizes(t *testing.T) {
	for _, c := range []struct {
		n        uint64
		p        float64
		shards   int
		strategy bloom.Strategy
		want     bloom.Params
		of       int
	}{
		{1000, 1e-6, 1000, bloom.DoubleHashing, bloom.Params{M: 128, K: 8}, 1000},
		{16_000, 1e-9, 1000, bloom.DoubleHashing, bloom.Params{M: 1024, K: 23}, 1000},
		{16_000, 1e-12, 1000, bloom.Blocked, bloom.Params{M: 3072, K: 24}, 1000},
		{1_000_000, 0.01, 16, bloom.DoubleHashing, bloom.Params{M: 601984, K: 7}, 16},
		{35_000_000, 0.01, 0, bloom.DoubleHashing, bloom.Params{M: 167916864, K: 7}, 2},
		{300_000_000, 0.01, 16, guava.Mitz32, bloom.Params{M: 179961280, K: 7}, 16},
	} {
		s, shards, err := layoutFor(c.n, c.p, c.shards, []bloom.Option{bloom.WithStrategy(c.strategy)})
		require.NoError(t, err)
		assert.Equal(t, c.want, bloom.Params{M: s.Params().M, K: s.Params().K}, "n = %d, p = %v, %d shards", c.n, c.p, c.shards)
		assert.Equal(t, c.of, shards)
	}
	_, _, err := layoutFor(300_000_000, 0.01, 0, []bloom.Option{bloom.WithStrategy(guava.Mitz32)})
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}
