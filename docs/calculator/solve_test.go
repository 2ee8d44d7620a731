package main

import (
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// Whatever two values are given, the third that comes out leads back to them.
func TestSolveIsConsistent(t *testing.T) {
	for _, s := range strategies {
		for _, n := range []float64{1, 1000, 1e8} {
			for _, p := range []float64{0.3, 0.01, 1e-6} {
				a, err := solve(s.Name(), n, p, 0, 0)
				require.NoError(t, err, "%v n = %v p = %v", s, n, p)
				want, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
				require.NoError(t, err)
				require.Equal(t, want.Params(), a.params)
				require.LessOrEqual(t, a.rate, p)

				// The memory that New takes for n and p keeps p for n keys, and not for many more.
				keys, err := solve(s.Name(), 0, p, float64(a.params.M), 0)
				require.NoError(t, err)
				require.GreaterOrEqual(t, keys.params.N, uint64(n), "%v n = %v p = %v", s, n, p)
				require.LessOrEqual(t, keys.rate, p)

				rate, err := solve(s.Name(), n, 0, float64(a.params.M), 0)
				require.NoError(t, err)
				require.LessOrEqual(t, rate.rate, p)
				require.LessOrEqual(t, rate.rate, a.rate, "the best k is not worse than New's")
			}
		}
	}
}

func TestSolveKeepsK(t *testing.T) {
	for _, s := range []string{"double-hashing", "blocked"} {
		a, err := solve(s, 1e6, 0.01, 0, 4)
		require.NoError(t, err)
		require.Equal(t, 4, a.params.K)
		require.LessOrEqual(t, a.rate, 0.01)
		less, err := solve(s, 1e6, 0, float64(a.params.M-512), 4)
		require.NoError(t, err)
		require.Greater(t, less.rate, 0.01, "%s: fewer bits do as well", s)
		keys, err := solve(s, 0, 0.01, float64(a.params.M), 4)
		require.NoError(t, err)
		require.Equal(t, 4, keys.params.K)
		require.InEpsilon(t, 1e6, float64(keys.params.N), 0.001)
	}
}

func TestSolveRefuses(t *testing.T) {
	for _, q := range []struct {
		n, p, m, k float64
		text       string
	}{
		{0, 0, 0, 0, "give two of n, p and the memory"},
		{1000, 0, 0, 7, "give two of n, p and the memory"},
		{-1, 0.01, 0, 0, "n = -1"},
		{1.5, 0.01, 0, 0, "n = 1.5"},
		{math.NaN(), 0.01, 0, 0, "n = NaN"},
		{1e300, 0.01, 0, 0, "n = 1e+300"},
		{1000, 1.5, 0, 0, "p = 1.5"},
		{1000, math.NaN(), 0, 0, "p = NaN"},
		{1000, 0.01, 0, 300, "k = 300"},
		{1000, 1e-30, 0, 0, "p = 1e-30"},
		{0, 1e-15, 64, 0, "for no key"},
		{1e9, 1e-12, 0, 1, "does not keep"},
	} {
		_, err := solve("double-hashing", q.n, q.p, q.m, q.k)
		require.ErrorContains(t, err, q.text, "%+v", q)
	}
	_, err := solve("no such", 1, 0.1, 0, 0)
	require.ErrorContains(t, err, `"no such"`)
}

func TestCurveRises(t *testing.T) {
	a, err := solve("blocked", 1e6, 0.01, 0, 0)
	require.NoError(t, err)
	rates, err := curve(a.strategy.Name(), a.params.M, a.params.K, a.params.N, 64)
	require.NoError(t, err)
	require.Len(t, rates, 65)
	require.IsIncreasing(t, rates)
	require.Equal(t, a.rate, rates[32])
}

func TestOpen(t *testing.T) {
	f := bloom.MustNew(1000, 0.01)
	f.AddString("key")
	data, err := f.MarshalBinary()
	require.NoError(t, err)
	g, lines, err := open(data)
	require.NoError(t, err)
	require.True(t, g.ContainsString("key"))
	require.Contains(t, lines, [2]string{"keys, estimated", "1"})
	_, _, err = open(data[:len(data)-1])
	require.ErrorIs(t, err, bloom.ErrCorrupt)
}
