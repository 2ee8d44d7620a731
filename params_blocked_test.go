package bloom

import (
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/stretchr/testify/require"
)

func TestBlockedParamsKeepPAndAreMinimal(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 50, 51, 100, 1000, 100_000, 1 << 32, 1 << 40} {
		for _, p := range []float64{0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9} {
			best := uint64(math.MaxUint64)
			for _, s := range blockeds {
				got, err := ParamsFor(n, p, s)
				require.NoError(t, err)
				require.Zero(t, got.M%512)
				require.LessOrEqual(t, s.FalsePositiveRate(got.M, got.K, n), p, "%s n=%d p=%v %+v", s, n, p, got)
				best = min(best, got.M)
				if got.K > groupsOf(s) {
					require.Greater(t, s.FalsePositiveRate(got.M, got.K-groupsOf(s), n), p, "%s n=%d p=%v: a smaller k would do", s, n, p)
				}
				if got.M == 512 || s == Blocked1 && p < 1e-4 {
					continue
				}
				for k := groupsOf(s); k <= maxK; k += groupsOf(s) {
					require.Greater(t, s.FalsePositiveRate(got.M-512, k, n), p, "%s n=%d p=%v: k=%d would do with less", s, n, p, k)
				}
			}
			got, resolved, err := paramsFor(n, p, Blocked, &murmur3Hash)
			require.NoError(t, err)
			require.LessOrEqual(t, float64(got.M), 1.03*float64(best), "n=%d p=%v: %s", n, p, resolved)
			same, err := ParamsFor(n, p, resolved)
			require.NoError(t, err)
			require.Equal(t, same, got)
		}
	}
}

// TestBlockedMemory pins what the docs say about it.
func TestBlockedMemory(t *testing.T) {
	const n = 1_000_000
	for _, c := range []struct {
		p        float64
		strategy string
		k        int
		over     float64
	}{
		{0.03, "blocked-2", 4, 1.048},
		{0.01, "blocked-2", 6, 1.071},
		{1e-3, "blocked-4", 8, 1.100},
		{1e-4, "blocked-4", 12, 1.177},
		{1e-6, "blocked-8", 16, 1.357},
		{1e-9, "blocked-8", 24, 1.880},
	} {
		got, s, err := paramsFor(n, c.p, Blocked, &murmur3Hash)
		require.NoError(t, err)
		require.Equal(t, c.strategy, s.Name())
		require.Equal(t, c.k, got.K)
		require.InDelta(t, c.over, float64(got.M)/rate.OptimalM(n, c.p), 0.001)
	}
	_, err := ParamsFor(n, 1e-13, Blocked)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, `p = 1e-13 with strategy "blocked", want at least 1e-12`)
}

// TestBlockedBeyondAllSizes: where few bits a key would take more blocks than a uint64
// counts, the search once went round for ever.
func TestBlockedBeyondAllSizes(t *testing.T) {
	for _, p := range []float64{1e-9, 1e-10, 1e-11, 1e-12} {
		got, s, err := paramsFor(1<<40, p, Blocked, &murmur3Hash)
		require.NoError(t, err)
		require.LessOrEqual(t, s.FalsePositiveRate(got.M, got.K, 1<<40), p)
		for _, n := range []uint64{2e14, 9e14} {
			for _, s := range append([]Strategy{Blocked}, blockeds...) {
				_, err := ParamsFor(n, p, s)
				require.ErrorIs(t, err, ErrTooLarge, "%s n=%d p=%v", s, n, p)
				require.ErrorContains(t, err, formatUint(n)+" keys")
			}
		}
	}
	// And a rate is computed in no time for more keys than blocks can hold.
	for _, s := range blockeds {
		require.Equal(t, 1.0, s.FalsePositiveRate(512*7, 8, math.MaxUint64))
		require.InDelta(t, 1, s.FalsePositiveRate(512*7, 8, 7<<17), 1e-12)
	}
}

func TestBlockedResolves(t *testing.T) {
	f := MustNew(1000, 0.01, WithStrategy(Blocked))
	again, err := NewWithParams(f.Params(), WithStrategy(Blocked))
	require.NoError(t, err)
	require.Equal(t, f.Strategy().Name(), again.Strategy().Name())
	require.True(t, f.Compatible(again))

	// Also where digests that collide take a share of p.
	s, err := NewScheme(1<<30, 1e-9, WithStrategy(Blocked), WithHash(MapHash))
	require.NoError(t, err)
	same, err := NewSchemeWithParams(s.Params(), WithStrategy(Blocked), WithHash(MapHash))
	require.NoError(t, err)
	require.Equal(t, s.Identity(), same.Identity())

	for _, c := range []struct {
		s      Strategy
		params Params
		text   string
	}{
		{Blocked, Params{M: 512, K: 8}, "want one of [blocked-1 blocked-2 blocked-4 blocked-8]"},
		{Blocked4, Params{M: 1000, K: 8}, `m = 1000 and k = 8 with strategy "blocked-4", want multiples of 512 and 4`},
		{Blocked4, Params{M: 1024, K: 6}, `m = 1024 and k = 6 with strategy "blocked-4", want multiples of 512 and 4`},
	} {
		_, err := NewWithParams(c.params, WithStrategy(c.s))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, c.text)
	}
}
