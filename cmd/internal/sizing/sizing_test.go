package sizing

import (
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"1000000": 1e6, "1e6": 1e6, "10M": 1e7, "1_000_000": 1e6, "1 000 000": 1e6, "1\u202f000\u00a0000": 1e6, "1,000,000": 1e6, "1.000.000": 1e6, "1'000": 1000,
		"1.5%": 0.015, "1,5%": 0.015, "1,5 %": 0.015, "0,01": 0.01, "0.01": 0.01, ".5": 0.5, "1e-6": 1e-6, "1/1000": 0.001, "1/1,000,000": 1e-6,
		"1,234.5": 1234.5, "1.234,5": 1234.5, "1.1M": 1_100_000, "0,5k": 500, "1,5": 1.5, "0,001": 0.001, "1.2340": 1.234, "0.123": 0.123, "1000,5": 1000.5, "1 000,000": 1000,
	} {
		for _, isRate := range []bool{false, true} {
			got, err := Number(text, isRate)
			require.NoError(t, err, text)
			require.Equal(t, want, got, "%q", text)
		}
	}
	for _, text := range []string{"1,000", "1.000", "1.234", "999,999", "1.000M", "12,345 k"} {
		_, err := Number(text, false)
		require.ErrorContains(t, err, " can mean ", text)
		got, err := Number(text+"%", true) // has only one meaning below 1
		require.False(t, err == nil && got >= 10, text)
	}
	_, err := Number("1/10,000", true)
	require.ErrorContains(t, err, " can mean ")
	_, err = Number("1.024M", false)
	require.EqualError(t, err, "1.024 can mean 1024 or 1.024, want 1024 or 1.0240")
	for _, text := range []string{"", "x", "1,00,000", "1,000.000.000", "1.5.2", "1,,2", "%", "10m", "1/0", "0/0", "NaN", "Inf", "1e999", "1/", "--1", "0,000,1"} {
		x, err := Number(text, false)
		require.NoError(t, err, "%q", text)
		require.False(t, math.Abs(x) < math.Inf(1), "%q", text)
	}
}

// TestSolveIsConsistent: the third value that two values give leads back to them.
func TestSolveIsConsistent(t *testing.T) {
	for _, s := range bloom.Strategies() {
		for _, n := range []float64{1, 1000, 1e8} {
			for _, p := range []float64{0.3, 0.01, 1e-6} {
				made, err := Solve(s, n, p, 0)
				require.NoError(t, err)
				want, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
				require.NoError(t, err)
				require.Equal(t, want.Params(), made.Params())
				m := float64(made.Params().M)
				_, err = Solve(s, n, p, m)
				require.NoError(t, err, "all three agree")
				keys, err := Solve(s, 0, p, m)
				require.NoError(t, err)
				require.GreaterOrEqual(t, keys.Params().N, uint64(n), "%v n = %v p = %v", s, n, p)
				require.LessOrEqual(t, float64(keys.Params().M), m)
				rate, err := Solve(s, n, 0, m)
				require.NoError(t, err)
				require.LessOrEqual(t, rate.Params().P, p*1.011, "%v n = %v", s, n)
				require.LessOrEqual(t, float64(rate.Params().M), m)
			}
		}
	}
}
