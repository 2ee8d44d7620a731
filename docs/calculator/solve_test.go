package main

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"1000000": 1e6, "1e6": 1e6, "10M": 1e7, "1_000_000": 1e6, "1 000 000": 1e6, "1\u202f000\u00a0000": 1e6, "1,000,000": 1e6, "1.000.000": 1e6, "1'000": 1000,
		"1.5%": 0.015, "1,5%": 0.015, "1,5 %": 0.015, "0,01": 0.01, "0.01": 0.01, ".5": 0.5, "1e-6": 1e-6, "1/1000": 0.001, "1/1,000,000": 1e-6,
		"1,234.5": 1234.5, "1.234,5": 1234.5, "1.1M": 1_100_000, "0,5k": 500, "1,5": 1.5, "1.234": 1.234, "0,001": 0.001,
	} {
		for _, isCount := range []bool{false, true} {
			got, err := number(text, isCount)
			require.NoError(t, err, text)
			require.Equal(t, want, got, "%q", text)
		}
	}
	for isCount, want := range map[bool]float64{true: 1000, false: 1} { // the page shows how it was read
		got, err := number("1,000", isCount)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "x", "1,00,000", "1,000.000.000", "1.5.2", "1,,2", "%", "10m", "1/0", "0/0", "NaN", "Inf", "1e999", "1/", "--1", "0,000,1"} {
		_, err := number(text, false)
		require.Error(t, err, "%q", text)
	}
}

// TestSolveIsConsistent: the third value that two values give leads back to them.
func TestSolveIsConsistent(t *testing.T) {
	for name, s := range strategies {
		for _, n := range []float64{1, 1000, 1e8} {
			for _, p := range []float64{0.3, 0.01, 1e-6} {
				made, err := solve(s, n, p, 0)
				require.NoError(t, err)
				want, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
				require.NoError(t, err)
				require.Equal(t, want.Params(), made.Params())
				m := float64(made.Params().M)
				_, err = solve(s, n, p, m)
				require.NoError(t, err, "all three agree")
				keys, err := solve(s, 0, p, m)
				require.NoError(t, err)
				require.GreaterOrEqual(t, keys.Params().N, uint64(n), "%s n = %v p = %v", name, n, p)
				require.LessOrEqual(t, float64(keys.Params().M), m)
				rate, err := solve(s, n, 0, m)
				require.NoError(t, err)
				require.LessOrEqual(t, rate.Params().P, p*1.011, "%s n = %v", name, n)
				require.LessOrEqual(t, float64(rate.Params().M), m)
			}
		}
	}
}

func TestCalculate(t *testing.T) {
	answer := func(strategy, n, p, m string) map[string]any {
		return calculate(map[string]string{"strategy": strategy, "n": n, "p": p, "m": m, "unit": "8388608"})
	}
	for _, q := range []struct{ n, p, m, text string }{
		{"", "", "", "give two of n, p and the memory"},
		{"1000", "", "", "give two of n, p and the memory"},
		{"-1", "0.01", "", `n = "-1" is out of range`},
		{"1.5", "0.01", "", "n = 1.5"},
		{"1e300", "0.01", "", "n = 1e+300"},
		{"1000", "many", "", `p = "many" is not a number`},
		{"1000", "1.5", "", `p = "1.5" is out of range`},
		{"1000", "1e-30", "", "p = 1e-30"},
		{"", "1e-15", "0.000004", "for no key"},
		{"1e6", "", "0.0001", "too few for 1,000,000 keys"},
		{"1M", "1%", "1", "n, p and m contradict each other: 1,000,000 keys at p = 0.01 need 9,"},
		{"1M", "", "1e-9", `m = "1e-9" is out of range`},
	} {
		require.Contains(t, answer("DoubleHashing", q.n, q.p, q.m)["error"], q.text, "%+v", q)
	}
	for name := range strategies {
		for _, q := range [][3]string{{"1M", "2,5%", ""}, {"1 000 000", "", "1"}, {"", "2.5%", "1"}} {
			a := answer(name, q[0], q[1], q[2])
			require.Nil(t, a["error"], "%s %v", name, q)
			require.Len(t, a["rates"], 65)
			require.LessOrEqual(t, a["rate"], a["p"])
			option := ""
			if name != "DoubleHashing" {
				option = ", bloom.WithStrategy(bloom." + name + ")"
			}
			require.Equal(t, fmt.Sprintf("f, err := bloom.New(%.0f, %v%s)", a["n"], a["p"], option), a["code"])
			if q[1] != "" {
				require.Equal(t, "2.5 %, one in 40", a["read"].(map[string]any)["p"])
			}
		}
	}
}
