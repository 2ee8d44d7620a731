package main

import "testing"

func TestNumbers(t *testing.T) {
	for text, want := range map[string]uint64{
		"1": 1, "1e6": 1e6, "1_000_000": 1e6, "2.5e3": 2500, "10M": 1e7, "1k": 1000, "1K": 1000, "1.1M": 1_100_000, "3G": 3e9, "2T": 2e12, "1.8e18": 18e17,
		"": 0, "0": 0, "-1": 0, "1.5": 0, "0.0001k": 0, "NaN": 0, "x": 0, "M": 0, "10m": 0, "1,0,0": 0, "1e-400": 0, "3/2": 0, "1e19": 0, "1e400": 0, "Inf": 0,
	} {
		if n, err := number(text); n != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{
		"0.001": 0.001, "1e-3": 0.001, "0.1%": 0.001, "1/1000": 0.001,
		"": 0, "0": 0, "1": 0, "100%": 0, "-0.1": 0, "NaN": 0, "x": 0, "0%": 0, "%": 0, "0,1%": 0.001, "1/0": 0, "0/0": 0, "1/x": 0, "1e-400": 0,
	} {
		if r, err := rate(text); r != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v, want %v", text, r, err, want)
		}
	}
}
