package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/internal/sizing"
)

// strategies returns the strategies that the page offers, by their Go names, and the names in the order of the page.
func strategies() (byName map[string]bloom.Strategy, names []any) {
	byName = map[string]bloom.Strategy{}
	for _, s := range bloom.Strategies() {
		name := ""
		for word := range strings.SplitSeq(s.Name(), "-") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		byName[name] = s
		names = append(names, name)
	}
	return byName, names
}

// ranges describes the valid values of the fields.
var ranges = map[string]string{
	"n": "a whole number of keys from 1 to 2^53, such as 1000000, 1e6 or 1M",
	"p": "a rate between 0 and 1, such as 0.001, 0.1% or 1/1000",
	"m": "a memory from 1 to 2^53 bits",
}

// calculate returns the values that the page shows for the texts of its fields: strategy, n, p, m and unit. If a field
// is invalid, the values are "error", the message; "field", its name; and "read", the numbers that were read.
func calculate(field map[string]string) map[string]any {
	read := map[string]any{}
	value := map[string]float64{}
	failed := func(field, text string) map[string]any {
		return map[string]any{"error": text, "field": field, "read": read}
	}
	for _, name := range []string{"n", "p", "m"} {
		text := strings.TrimSpace(field[name])
		if text == "" {
			continue
		}
		x, err := sizing.Number(text, name == "p")
		if name == "m" {
			unit, _ := strconv.ParseFloat(field["unit"], 64)
			x = math.Floor(x * unit)
		}
		switch {
		case err != nil:
			return failed(name, fmt.Sprintf("%s = %v", name, err))
		case !(x > 0), name == "p" && x >= 1, name != "p" && x >= 1<<53, name == "n" && x != math.Floor(x):
			return failed(name, fmt.Sprintf("%s = %q, want %s", name, text, ranges[name]))
		}
		value[name] = x
		read[name] = map[string]string{"n": humanize.Commaf(x), "p": share(x), "m": humanize.Commaf(x) + " bits"}[name]
	}
	byName, _ := strategies()
	s := byName[field["strategy"]]
	scheme, err := sizing.Solve(s, value["n"], value["p"], value["m"])
	switch {
	case errors.Is(err, bloom.ErrTooLarge):
		return failed("n", err.Error())
	case errors.Is(err, bloom.ErrInvalid):
		return failed("p", err.Error())
	case err != nil:
		return failed("", err.Error())
	}
	f, note := scheme.Params(), ""
	if unused := value["m"] - float64(f.M); len(value) == 3 && unused > 0 {
		note = humanize.Commaf(unused) + " of the bits that you give are not needed"
	}
	option := ""
	if s != bloom.DoubleHashing {
		option = ", bloom.WithStrategy(bloom." + field["strategy"] + ")"
	}
	const steps = 64
	var rates []any // with 0 to 2n keys
	for i := range steps + 1 {
		rates = append(rates, s.FalsePositiveRate(f.M, f.K, uint64(math.Round(2*float64(f.N)*float64(i)/steps))))
	}
	rate := s.FalsePositiveRate(f.M, f.K, f.N)
	return map[string]any{
		"read": read, "note": note, "rates": rates, "strategy": field["strategy"], "n": float64(f.N), "p": f.P, "m": float64(f.M), "k": f.K,
		"rate": rate, "rateText": share(rate), "bytes": float64(scheme.SizeBytes()), "bitsPerKey": float64(f.M) / float64(f.N),
		"code": fmt.Sprintf("f, err := bloom.New(%d, %v%s)", f.N, f.P, option),
	}
}

// share formats a rate below 1: 2.5 %, one in 40.
func share(p float64) string {
	percent := fmt.Sprintf("%.4g %%", 100*p)
	if percent == "100 %" {
		percent = "above 99.99 %"
	}
	if one := math.Round(1 / p); one > 2 {
		percent += ", one in " + humanize.Commaf(one)
	}
	return percent
}
