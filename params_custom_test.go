package bloom

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCustomSizing: fixed k, units, rates and rules of custom strategies.
func TestCustomSizing(t *testing.T) {
	double := customDouble.def.Definition
	with := func(edit func(d *Definition)) Strategy {
		d := double
		edit(&d)
		return NewStrategy("sized", d)
	}
	usual := must(ParamsFor(1000, 0.01, DoubleHashing))
	for name, c := range map[string]struct {
		s    Strategy
		want Params
	}{
		"Unit": {with(func(d *Definition) { d.Unit = 1000 }), Params{1000, 0.01, 10000, 5}},
		"MaxK": {with(func(d *Definition) { d.MaxK = 3 }), Params{1000, 0.01, 12416, 3}},
		"Rate": {with(func(d *Definition) { d.Rate = DoubleHashing.FalsePositiveRate }), usual},
		"Rate, twice": {with(func(d *Definition) {
			d.Rate = func(m uint64, k int, n uint64) float64 { return DoubleHashing.FalsePositiveRate(m/2, k, n) }
		}), Params{1000, 0.01, 2 * usual.M, usual.K}},
		"Size": {with(func(d *Definition) { d.Size = func(n uint64, p float64) (uint64, int, error) { return n * 10, 6, nil } }), Params{1000, 0.01, 10000, 6}},
	} {
		got, err := ParamsFor(1000, 0.01, c.s)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want, MustNew(1000, 0.01, WithStrategy(c.s)).Params(), name)
		if c.s.def.Size == nil {
			require.LessOrEqual(t, c.s.FalsePositiveRate(got.M, got.K, 1000), 0.01, name)
			require.Greater(t, c.s.FalsePositiveRate(got.M-c.s.def.sizedUnit(), got.K, 1000), 0.01, name)
		}
	}
	for want, s := range map[int]Strategy{
		2: with(func(d *Definition) { d.MaxK = 2 }),
		7: with(func(d *Definition) { d.Rate = DoubleHashing.FalsePositiveRate }),
	} {
		got, err := ParamsForBits(1000, 10, s)
		require.NoError(t, err)
		require.Equal(t, Params{1000, s.FalsePositiveRate(10_048, want, 1000), 10_048, want}, got)
	}
	for text, s := range map[string]Strategy{
		"m = 0 bits, want at least 1": with(func(d *Definition) { d.Size = func(uint64, float64) (uint64, int, error) { return 0, 1, nil } }),
		"too small": with(func(d *Definition) {
			d.Size = func(uint64, float64) (uint64, int, error) { return 0, 0, errors.New("too small") }
		}),
		`strategy "sized" reaches p = 0.01 for n = 1000`:       with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return 0.02 } }),
		`strategy "sized" has rate NaN for m = `:               with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return math.NaN() } }),
		`no m up to 8960 bits with strategy "sized" reaches p`: with(func(d *Definition) { d.MaxM = 9000 }),
	} {
		_, err := New(1000, 0.01, WithStrategy(s))
		require.ErrorContains(t, err, text)
	}
	_, err := ParamsForBits(1000, 10, with(func(d *Definition) { d.MaxM = 9000 }))
	require.ErrorIs(t, err, ErrTooLarge)
}

// TestCustomEstimateThatIsNone: what is not a number of keys means that nobody can tell.
func TestCustomEstimateThatIsNone(t *testing.T) {
	for _, n := range []float64{math.NaN(), -1, math.Inf(-1), math.Inf(1)} {
		d := customDouble.def.Definition
		d.EstimatedN = func(uint64, int, uint64) float64 { return n }
		f := MustNew(1000, 0.01, WithStrategy(NewStrategy("odd", d)))
		f.AddString("key")
		require.Equal(t, uint64(math.MaxUint64), f.Stats().EstimatedCount, n)
	}
}

// TestCustomSizingFindsTheLeast: by brute force over the strategy's own rate, whose least m does not fall and
// then rise with k, New finds the smallest m and its smallest k.
func TestCustomSizingFindsTheLeast(t *testing.T) {
	for seed := range uint64(30) {
		d := customDouble.def.Definition
		d.MaxK, d.MaxM = 20, 64*400
		d.Rate = func(m uint64, k int, n uint64) float64 {
			return min(1, DoubleHashing.FalsePositiveRate(m, k, n)*float64(1+mix(seed<<8+uint64(k))%64))
		}
		s := NewStrategy("", d)
		const n, p = 100, 0.01
		least := func() Params {
			for m := uint64(64); m <= d.MaxM; m += 64 {
				for k := 1; k <= d.MaxK; k++ {
					if d.Rate(m, k, n) <= p {
						return Params{n, p, m, k}
					}
				}
			}
			return Params{}
		}
		require.Equal(t, least(), must(ParamsFor(n, p, s)))
	}
	tiny := customDouble.def.Definition
	tiny.MaxM = 10
	_, err := New(1, 0.5, WithStrategy(NewStrategy("tiny", tiny)))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `m = 64 bits with strategy "tiny", want at most 10`)
}
