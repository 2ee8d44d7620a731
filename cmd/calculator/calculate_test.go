package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCalculate(t *testing.T) {
	answer := func(strategy, n, p, m string) map[string]any {
		return calculate(map[string]string{"strategy": strategy, "n": n, "p": p, "m": m, "unit": "8388608"})
	}
	for _, q := range []struct{ n, p, m, field, text string }{
		{"", "", "", "", "give two of n, p and the memory"},
		{"1000", "", "", "", "give two of n, p and the memory"},
		{"-1", "0.01", "", "n", `n = "-1", want a whole number of keys from 1 to 2^53`},
		{"1.5", "0.01", "", "n", `n = "1.5", want a whole number`},
		{"1e300", "0.01", "", "n", `n = "1e300", want a whole number of keys from 1 to 2^53`},
		{"1000", "many", "", "p", `p = "many", want a rate between 0 and 1`},
		{"1000", "1.5", "", "p", `p = "1.5", want a rate between 0 and 1`},
		{"1000", "1e-30", "", "p", "p = 1e-30"},
		{"", "1e-15", "0.000004", "", "for no key"},
		{"1e6", "", "0.0001", "", "too few for 1,000,000 keys"},
		{"1M", "1%", "1", "", "n, p and m contradict each other: 1,000,000 keys at p = 0.01 need 9,"},
		{"1.000", "1%", "", "n", "n = 1.000 can mean 1000 or 1.000, want 1000 or 1.0000"},
		{"1000", "", "1.024", "m", "m = 1.024 can mean 1024 or 1.024"},
		{"1M", "", "1e-9", "m", `m = "1e-9", want a memory from 1 to 2^53 bits`},
	} {
		a := answer("DoubleHashing", q.n, q.p, q.m)
		require.Contains(t, a["error"], q.text, "%+v", q)
		require.Equal(t, q.field, a["field"], "%+v", q)
	}
	byName, _ := strategies()
	for name := range byName {
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

// TestExtremes: rates near 0 and 1 are told, and memory that is not needed.
func TestExtremes(t *testing.T) {
	answer := func(n, p, m string) map[string]any {
		return calculate(map[string]string{"strategy": "DoubleHashing", "n": n, "p": p, "m": m, "unit": "8388608"})
	}
	for _, p := range []string{"0.9999999", "0.6", "1e-19"} {
		a := answer("1000", p, "")
		require.Nil(t, a["error"], p)
		for _, text := range []any{a["rateText"], a["read"].(map[string]any)["p"]} {
			require.NotRegexp(t, "^100 %|one in [01]$", text, p)
		}
	}
	require.Equal(t, "8,379,008 of the bits that you give are not needed", answer("1000", "1%", "1")["note"])
	require.Empty(t, answer("1000", "", "1")["note"])
}
