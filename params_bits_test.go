package bloom

import (
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/stretchr/testify/require"
)

// TestParamsForBitsChooseWell: for many keys, the rule's k is within 3 % of the best.
func TestParamsForBitsChooseWell(t *testing.T) {
	t.Parallel()
	const n = 1 << 30
	for _, s := range builtins {
		if s == SplitBlock {
			continue // k is 8
		}
		for c := 0.6; c <= 60; c *= 1.15 {
			got := must(ParamsForBits(n, c, s))
			require.Equal(t, s.FalsePositiveRate(got.M, got.K, n), got.P)
			require.Less(t, float64(got.M)-n*c, 512.0)
			require.GreaterOrEqual(t, float64(got.M), n*c)
			best := 1.0
			for k := 1; k <= maxK; k++ {
				if canHave(s, got.M, k) && (s != Blocked || s.wordsPerKey(k) <= s.wordsPerKey(got.K)) {
					best = min(best, s.FalsePositiveRate(got.M, k, n))
				}
			}
			require.Less(t, got.P, 1.03*best, "%s at %v bits per key, k = %d", s, c, got.K)
		}
	}
}

// TestParamsForBitsOfFewKeys: the filter is usable as it is, and its rate is the true one.
func TestParamsForBitsOfFewKeys(t *testing.T) {
	for _, s := range allStrategies {
		for _, n := range []uint64{0, 1, 16, 1000} {
			got := must(ParamsForBits(n, 10, s))
			require.Equal(t, n, got.N)
			unit := sizeUnit(s)
			require.Equal(t, (max(10*n, 1)+unit-1)/unit*unit, got.M)
			require.Equal(t, s.FalsePositiveRate(got.M, got.K, n), got.P)
			f := must(newWithParams(got, WithStrategy(s)))
			f.AddString("x")
			require.True(t, f.ContainsString("x"))
		}
	}
	// The figures of the doc comment.
	const n = 1_000_000
	for _, c := range []struct {
		s    Strategy
		p    float64
		k    int
		bits float64
	}{
		{DoubleHashing, 0.008194, 7, 10}, {Blocked, 0.01109, 6, 10}, {Blocked, 6.435e-05, 12, 24}, {Blocked, 1.001e-05, 16, 30},
	} {
		got := must(ParamsForBits(n, c.bits, c.s))
		require.InEpsilon(t, c.p, got.P, 0.001, "%s at %v", c.s, c.bits)
		require.Equal(t, c.k, got.K)
	}
}

func TestParamsForBitsRejects(t *testing.T) {
	noRate := definitionOf(customDouble)
	noRate.Rate = func(uint64, int, uint64) float64 { return math.NaN() }
	negative := definitionOf(customDouble)
	negative.Rate = func(uint64, int, uint64) float64 { return -1 }
	for _, c := range []struct {
		n    uint64
		bits float64
		s    Strategy
		want error
		text string
	}{
		{10, 0, DoubleHashing, ErrInvalid, "0 bits per key, want more than 0"},
		{10, -1, DoubleHashing, ErrInvalid, "-1 bits per key"},
		{10, math.NaN(), DoubleHashing, ErrInvalid, "NaN bits per key"},
		{0, math.Inf(1), DoubleHashing, ErrTooLarge, "+Inf bits per key"},
		{10, math.Inf(1), DoubleHashing, ErrTooLarge, "+Inf bits per key"},
		{math.MaxUint64, 10, DoubleHashing, ErrTooLarge, "n = 18446744073709551615 keys at 10 bits per key"},
		{1 << 30, 1e-6, DoubleHashing, ErrInvalid, "every answer is true"},
		{10, 10, Strategy{}, ErrInvalid, "zero Strategy"},
		{10, 10, NewStrategy("no rate", noRate), ErrInvalid, `strategy "no rate" has rate NaN for m = 128, k = 1 and n = 10`},
		{10, 10, NewStrategy("negative", negative), ErrInvalid, `strategy "negative" has rate -1 for m = 128, k = 1 and n = 10`},
	} {
		_, err := ParamsForBits(c.n, c.bits, c.s)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
	}
	// Neither m nor what it is rounded to reaches 2^53.
	for _, s := range Strategies() {
		_, err := ParamsForBits(1<<53-1, 1, s)
		require.ErrorIs(t, err, ErrTooLarge)
		if got, err := ParamsForBits(1<<40, 8191, s); err != nil {
			require.ErrorIs(t, err, ErrTooLarge, s)
		} else {
			require.Less(t, got.M, s.limits().maxM, s)
		}
	}
	_, err := ParamsForBits(0, math.Inf(1), DoubleHashing)
	require.NotContains(t, err.Error(), "NaN")
	// What makes the rate 1 is that its float64 is.
	require.Equal(t, 1.0, rate.Independent(1088, 1, 1<<30))
}
