package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
)

// strategies are the choices of the page.
var strategies = map[string]bloom.Strategy{
	"DoubleHashing": bloom.DoubleHashing, "Blocked": bloom.Blocked, "SplitBlock": bloom.SplitBlock, "SeededHashing": bloom.SeededHashing,
}

// solve returns the filter for two of n, p and m; the third is 0. With all three it checks that they
// agree. It asks bloom.New for every answer, by bisection where that computes the other way.
func solve(s bloom.Strategy, n, p, m float64) (bloom.Scheme, error) {
	const most = 1 << 53
	for what, v := range map[string]float64{"n": n, "m": m} {
		if v != math.Floor(v) || v >= most {
			return bloom.Scheme{}, fmt.Errorf("%s = %v, want a whole number below 2^53", what, v)
		}
	}
	fits := func(n, p float64) bool {
		scheme, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
		return err == nil && float64(scheme.Params().M) <= m
	}
	switch {
	case n > 0 && p > 0:
	case p > 0 && m > 0:
		for step := float64(most / 2); step >= 1; step /= 2 {
			if fits(n+step, p) {
				n += step
			}
		}
		if n == 0 {
			return bloom.Scheme{}, fmt.Errorf("%s bits keep p = %v for no key", separated(m), p)
		}
	case n > 0 && m > 0:
		if p = 0.99; !fits(n, p) {
			p = 0.5 // SplitBlock takes no larger one
		}
		if !fits(n, p) {
			return bloom.Scheme{}, fmt.Errorf("%s bits are too few for %s keys: their rate is 1, or nearly so", separated(m), separated(n))
		}
		for low := 1e-20; p/low > 1.0001; {
			if middle := math.Sqrt(low * p); fits(n, middle) {
				p = middle
			} else {
				low = middle
			}
		}
		exponent := math.Pow10(3 - int(math.Ceil(math.Log10(p))))
		p = math.Ceil(p*exponent) / exponent // three digits
	default:
		return bloom.Scheme{}, errors.New("give two of n, p and the memory")
	}
	scheme, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
	if err == nil && m > 0 && float64(scheme.Params().M) > m {
		err = fmt.Errorf("n, p and m contradict each other: %s keys at p = %v need %s bits, not %s; leave one of the three empty",
			separated(n), p, separated(float64(scheme.Params().M)), separated(m))
	}
	return scheme, err
}

// calculate returns what the page shows for the texts of its fields: strategy, n, p, m and unit. An
// error is one of the values, next to what it could read.
func calculate(field map[string]string) map[string]any {
	read := map[string]any{}
	value := map[string]float64{}
	failed := func(format string, args ...any) map[string]any {
		return map[string]any{"error": fmt.Sprintf(format, args...), "read": read}
	}
	for _, name := range []string{"n", "p", "m"} {
		text := strings.TrimSpace(field[name])
		if text == "" {
			continue
		}
		x, err := number(text, name == "n")
		if name == "m" {
			unit, _ := strconv.ParseFloat(field["unit"], 64)
			x = math.Floor(x * unit)
		}
		switch {
		case err != nil:
			return failed("%s = %q is not a number", name, text)
		case x <= 0 || name == "p" && x >= 1:
			return failed("%s = %q is out of range", name, text)
		case name == "n":
			read[name] = separated(x)
		case name == "p":
			read[name] = fmt.Sprintf("%.4g %%, one in %s", 100*x, separated(math.Round(1/x)))
		case name == "m":
			read[name] = separated(x) + " bits"
		}
		value[name] = x
	}
	s := strategies[field["strategy"]]
	scheme, err := solve(s, value["n"], value["p"], value["m"])
	if err != nil {
		return failed("%s", strings.TrimPrefix(err.Error(), "bloom: "))
	}
	f, s := scheme.Params(), scheme.Strategy()
	option := ""
	if s != bloom.DoubleHashing {
		option = ", bloom.WithStrategy(bloom." + field["strategy"] + ")"
	}
	const steps = 64
	var rates []any // after 0 to 2n keys
	for i := range steps + 1 {
		rates = append(rates, s.FalsePositiveRate(f.M, f.K, uint64(math.Round(2*float64(f.N)*float64(i)/steps))))
	}
	return map[string]any{
		"read": read, "rates": rates, "strategy": s.Name(), "n": float64(f.N), "p": f.P, "m": float64(f.M), "k": f.K,
		"rate": s.FalsePositiveRate(f.M, f.K, f.N), "bytes": float64(scheme.SizeBytes()), "bitsPerKey": float64(f.M) / float64(f.N),
		"code": fmt.Sprintf("f, err := bloom.New(%d, %v%s)", f.N, f.P, option),
	}
}

// separated formats a number with commas: 1,234,567.5.
func separated(x float64) string {
	whole, rest, decimals := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimals {
		whole += "." + rest
	}
	return whole
}
