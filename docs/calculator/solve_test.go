package main

import (
	"math"
	"regexp"
	"strconv"
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
	for _, s := range strategies {
		for _, n := range []float64{1, 1000, 1e8} {
			for _, p := range []float64{0.3, 0.01, 1e-6} {
				a, err := solve(s.Name(), n, p, 0, 0)
				require.NoError(t, err, "%v n = %v p = %v", s, n, p)
				want, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
				require.NoError(t, err)
				require.Equal(t, want.Params(), a.params)
				keys, err := solve(s.Name(), 0, p, float64(a.params.M), 0)
				require.NoError(t, err)
				require.GreaterOrEqual(t, keys.params.N, uint64(n), "%v n = %v p = %v", s, n, p)
				require.LessOrEqual(t, keys.rate, p)
				rate, err := solve(s.Name(), n, p, float64(a.params.M), 0)
				require.NoError(t, err, "all three agree")
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
		require.InEpsilon(t, 1e6, float64(keys.params.N), 0.001)
	}
}

func TestCalculateRefuses(t *testing.T) {
	for _, q := range []struct{ n, p, m, k, text string }{
		{"", "", "", "", "give two of n, p and the memory"},
		{"1000", "", "", "7", "give two of n, p and the memory"},
		{"-1", "0.01", "", "", `n = "-1", want more than 0`},
		{"1.5", "0.01", "", "", "n = 1.5"},
		{"1e300", "0.01", "", "", "n = 1e+300"},
		{"1000", "many", "", "", `p = "many" is not a number`},
		{"1000", "1.5", "", "", "p = 1.5"},
		{"1000", "0.01", "", "300", "k = 300"},
		{"1000", "1e-30", "", "", "p = 1e-30"},
		{"", "1e-15", "0.000004", "", "for no key"},
		{"1e9", "1e-12", "", "1", "does not keep"},
		{"1e6", "", "0.0001", "", "have a rate of 1"},
		{"1M", "1%", "1", "", "n, p and m contradict each other: 1000000 keys in 8388608 bits have a rate of 0.0178, above 0.01"},
		{"1M", "1%", "1e-9", "", "less than a bit"},
	} {
		_, err := calculate(map[string]string{"strategy": "double-hashing", "n": q.n, "p": q.p, "m": q.m, "unit": "8388608", "k": q.k})
		require.ErrorContains(t, err, q.text, "%+v", q)
	}
	_, err := solve("no such", 1, 0.1, 0, 0)
	require.ErrorContains(t, err, `"no such"`)
}

// TestCalculate: the page says how it read the fields, and the library accepts its code.
func TestCalculate(t *testing.T) {
	params := regexp.MustCompile(`bloom.Params{N: (\d+), P: ([^,]+), M: (\d+), K: (\d+)}`)
	for _, s := range strategies {
		for _, n := range []string{"", "1", "20", "1M"} {
			for _, m := range []string{"", "0.0001", "1", "1000"} {
				for _, k := range []string{"", "8"} {
					p, err := calculate(map[string]string{"strategy": s.Name(), "n": n, "p": "2,5%", "m": m, "unit": "8192", "k": k})
					if err != nil {
						continue
					}
					require.Equal(t, "2.5 %, one in 40", p.read["p"])
					require.Len(t, p.rates, 65)
					require.IsNonDecreasing(t, p.rates)
					if m == "" && k == "" {
						require.Contains(t, p.code, "bloom.New(")
						continue
					}
					found := params.FindStringSubmatch(p.code)
					require.NotNil(t, found, p.code)
					rate, err := strconv.ParseFloat(found[2], 64)
					require.NoError(t, err)
					given := bloom.Params{N: p.params.N, P: rate, M: p.params.M, K: p.params.K}
					_, err = bloom.NewSchemeWithParams(given, bloom.WithStrategy(p.strategy))
					require.NoError(t, err, p.code)
					require.False(t, math.IsNaN(p.rate))
				}
			}
		}
	}
	p, err := calculate(map[string]string{"strategy": "blocked", "n": "1 000 000", "p": "1,5%"})
	require.NoError(t, err)
	require.Equal(t, "f, err := bloom.New(1000000, 0.015, bloom.WithStrategy(bloom.Blocked))", p.code)
	require.Equal(t, "1,000,000", p.read["n"])
}
