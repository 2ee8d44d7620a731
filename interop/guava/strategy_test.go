package guava

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/seed3447c163/bloom/interop/internal/formattest"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

func TestPositionsAreFrozen(t *testing.T) {
	formattest.Positions(t, []uint64{0, 42}, Mitz32, Mitz64)
}

// TestMitz32BeyondItsReach: the rate and the estimates of a filter with unreachable bits are those of the
// reachable ones.
func TestMitz32BeyondItsReach(t *testing.T) {
	_, err := bloom.New(300_000_000, 0.01, bloom.WithStrategy(Mitz32))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, `with strategy "guava-mitz-32" reaches p = 0.01 for n = 300000000 keys`)
	_, err = bloom.ParamsFor(200_000_000, 0.01, Mitz32)
	require.NoError(t, err)

	const n = 200_000_000
	m := uint64(1) << 31
	require.Equal(t, Mitz64.FalsePositiveRate(m, 7, n), Mitz32.FalsePositiveRate(m, 7, n))
	require.Equal(t, Mitz64.FalsePositiveRate(m, 7, n), Mitz32.FalsePositiveRate(4*m, 7, n))
	require.Less(t, Mitz64.FalsePositiveRate(4*m, 7, n), Mitz32.FalsePositiveRate(4*m, 7, n))
	_, err = bloom.NewSchemeWithParams(bloom.Params{M: 4 * m, K: 7}, bloom.WithStrategy(Mitz32))
	require.NoError(t, err, "there to be read")
	require.Equal(t, Mitz64.EstimatedN(m, 7, 1024), Mitz32.EstimatedN(4*m, 7, 1024))
}

// TestMitz32KeepsItsRateNearItsReach: if its positions were taken as even, 106.8 million keys at 0.1 % would
// have 1.67 times their rate.
func TestMitz32KeepsItsRateNearItsReach(t *testing.T) {
	const n, p = 106_800_000, 1e-3
	even, err := bloom.ParamsFor(n, p, Mitz64)
	require.NoError(t, err)
	require.InEpsilon(t, 1.673*p, Mitz32.FalsePositiveRate(even.M, even.K, n), 0.001)
	params, err := bloom.ParamsFor(n, p, Mitz32)
	require.NoError(t, err)
	require.InDelta(t, 1.08, float64(params.M)/float64(even.M), 0.01)
	require.LessOrEqual(t, Mitz32.FalsePositiveRate(params.M, params.K, n), p)
	require.Greater(t, Mitz32.FalsePositiveRate(params.M-64, params.K, n), p)
	_, err = bloom.ParamsFor(n, 1e-6, Mitz32)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestStrategiesAreTheFormula in single calls and in batches, for few and many bits per key.
func TestStrategiesAreTheFormula(t *testing.T) {
	for _, s := range []bloom.Strategy{Mitz64, Mitz32} {
		for _, params := range []bloom.Params{{M: 1, K: 1}, {M: 64, K: 5}, {M: 21895, K: 5}, {M: 9999, K: 16}, {M: 9999, K: 17}, {M: 1 << 20, K: 255}} {
			f, err := bloom.NewWithParams(params, bloom.WithStrategy(s))
			require.NoError(t, err)
			batch, err := bloom.NewWithParams(params, bloom.WithStrategy(s))
			require.NoError(t, err)
			want, keys := map[uint64]bool{}, []string{}
			for i := range 50 {
				key := fmt.Sprint(i)
				keys = append(keys, key)
				f.AddString(key)
				h1, h2 := murmur3.StringSum128(key)
				for j := range params.K {
					pos := (h1 + uint64(j)*h2) & math.MaxInt64 % params.M
					if s == Mitz32 {
						x := int32(h1) + int32(j+1)*int32(h1>>32)
						if x < 0 {
							x = ^x
						}
						pos = uint64(x) % params.M
					}
					want[pos] = true
				}
				require.True(t, f.ContainsString(key))
			}
			batch.AddStrings(keys, nil)
			require.True(t, f.Equal(batch))
			require.Equal(t, uint64(len(want)), f.Stats().Ones)
			for pos := range want {
				require.NotZero(t, f.Words()[pos/64].Load()>>(pos%64)&1)
			}
		}
	}
}

// TestConformance excludes few keys with a small p, which the strategies document.
func TestConformance(t *testing.T) {
	for _, s := range []bloom.Strategy{Mitz64, Mitz32} {
		require.NoError(t, bloomtest.TestStrategy(s, bloomtest.Point{N: 1000, P: 0.05}, bloomtest.Point{N: 20_000, P: 0.01}))
	}
}
