package guava

import (
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/stretchr/testify/require"
)

func TestFrozenPositions(t *testing.T) {
	conformance.Positions(t, []uint64{0, 42}, Mitz32, Mitz64)
}

// TestMitz32BeyondItsReach: the rate and the estimates of a filter with unreachable bits are those of the
// reachable ones.
func TestMitz32BeyondItsReach(t *testing.T) {
	_, err := bloom.New(300_000_000, 0.01, bloom.WithStrategy(Mitz32))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, `with strategy "guava-mitz-32" reaches p = 0.01 for n = 300000000 keys`)
	const n, m = 200_000_000, uint64(1) << 31
	_, err = bloom.NewScheme(n, 0.01, bloom.WithStrategy(Mitz32))
	require.NoError(t, err)
	require.Equal(t, Mitz64.FalsePositiveRate(m, 7, n), Mitz32.FalsePositiveRate(m, 7, n))
	require.Equal(t, Mitz64.FalsePositiveRate(m, 7, n), Mitz32.FalsePositiveRate(4*m, 7, n))
	require.Equal(t, Mitz64.EstimateCount(m, 7, 1024), Mitz32.EstimateCount(4*m, 7, 1024))
	_, err = bloom.NewSchemeWithParams(bloom.Params{M: 4 * m, K: 7}, bloom.WithStrategy(Mitz32))
	require.NoError(t, err, "there to be read")
}

// TestMitz32KeepsItsRateNearItsReach: if its positions were taken as even, 106.8 million keys at 0.1 % would
// have 1.67 times their rate.
func TestMitz32KeepsItsRateNearItsReach(t *testing.T) {
	const n, p = 106_800_000, 1e-3
	even, err := bloom.NewScheme(n, p, bloom.WithStrategy(Mitz64))
	require.NoError(t, err)
	require.InEpsilon(t, 1.673*p, Mitz32.FalsePositiveRate(even.Params().M, even.Params().K, n), 0.001)
	uneven, err := bloom.NewScheme(n, p, bloom.WithStrategy(Mitz32))
	require.NoError(t, err)
	params := uneven.Params()
	require.LessOrEqual(t, Mitz32.FalsePositiveRate(params.M, params.K, n), p)
	require.Greater(t, Mitz32.FalsePositiveRate(params.M-64, params.K, n), p)
	_, err = bloom.NewScheme(n, 1e-6, bloom.WithStrategy(Mitz32))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestConformance excludes few keys with a small p, which the strategies document.
func TestConformance(t *testing.T) {
	for _, s := range []bloom.Strategy{Mitz64, Mitz32} {
		require.NoError(t, bloomtest.TestStrategy(s, bloom.Params{N: 1000, P: 0.05}, bloom.Params{N: 20_000, P: 0.01}))
	}
}
