package main

import (
	"strings"
	"testing"
)

func TestCounts(t *testing.T) {
	for text, want := range map[string]uint64{
		"1": 1, "1e6": 1e6, "1_000_000": 1e6, "1,000,000": 1e6, "2.5e3": 2500, "10M": 1e7, "1k": 1000, "1K": 1000, "1.1M": 1_100_000, "3G": 3e9, "2T": 2e12,
		"9007199254740993": 9007199254740993, "1.8e19": 18e18, "18446744073709551615": 1<<64 - 1,
	} {
		var c count
		if err := c.Set(text); err != nil || uint64(c) != want {
			t.Errorf("%q: %d, %v, want %d", text, c, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "whole number", "0": "from 1", "-1": "from 1", "1.5": "whole number", "0.0001k": "whole number", "NaN": "whole number", "x": "whole number",
		"M": "whole number", "1e3k": "whole number", "10m": "whole number", "1,00": "whole number", "1e-400": "whole number", "3/2": "whole number",
		"18446744073709551616": "at most 18,446,744,073,709,551,615 keys", "2e19": "at most", "1e400": "at most", "Inf": "at most", "1e999999999": "at most",
	} {
		var c count
		if err := c.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v, want %q", text, c, err, want)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{"0.001": 0.001, "1e-3": 0.001, "0.1%": 0.001, "50 %": 0.5, "0,1%": 0.001, "0,01": 0.01, "1/1000": 0.001} {
		var r rate
		if err := r.Set(text); err != nil || float64(r) != want {
			t.Errorf("%q: %v, %v, want %v", text, r, err, want)
		}
	}
	for _, text := range []string{"", "0", "1", "100%", "-0.1", "NaN", "x", "0%", "%", "1,000,000", "1/0", "0/0", "1/x", "1e-400"} {
		var r rate
		if err := r.Set(text); err == nil {
			t.Errorf("%q: %v, want an error", text, r)
		}
	}
}
