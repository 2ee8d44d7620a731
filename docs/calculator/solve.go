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
var strategies = []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.SplitBlock, bloom.SeededHashing}

func strategyNamed(name string) (bloom.Strategy, error) {
	for _, s := range strategies {
		if s.Name() == name {
			return s, nil
		}
	}
	return bloom.Strategy{}, fmt.Errorf("strategy %q, want one that the page offers", name)
}

// An answer is a filter and its rate at n keys.
type answer struct {
	params   bloom.Params
	strategy bloom.Strategy
	rate     float64
}

// maxM is more than the bits of any filter.
const maxM = 1 << 53

// solve computes the missing ones, 0, of n, p, m and k. It needs n and p, n and m, or p and m. It
// keeps a given k.
func solve(name string, n, p, m, k float64) (answer, error) {
	s, err := strategyNamed(name)
	if err != nil {
		return answer{}, err
	}
	for what, v := range map[string]float64{"n": n, "m": m, "k": k} {
		if v < 0 || v != math.Floor(v) || v >= maxM {
			return answer{}, fmt.Errorf("%s = %v, want a whole number from 1 to 2^53", what, v)
		}
	}
	if p != 0 && !(p > 0 && p < 1) {
		return answer{}, fmt.Errorf("p = %v, want a rate between 0 and 1", p)
	}
	if k > 255 {
		return answer{}, fmt.Errorf("k = %v, want at most 255", k)
	}
	given := bloom.Params{N: uint64(n), P: p, M: uint64(m), K: int(k)}
	var a answer
	switch {
	case n > 0 && m > 0:
		a, err = rateOf(s, given)
		if err == nil && p > 0 && a.rate > p {
			err = fmt.Errorf("n, p and m contradict each other: %d keys in %d bits have a rate of %.3g, above %v; leave one of the three empty", given.N, given.M, a.rate, p)
		}
	case n > 0 && p > 0:
		a, err = sizeOf(s, given)
	case p > 0 && m > 0:
		a, err = keysOf(s, given)
	default:
		err = errors.New("give two of n, p and the memory")
	}
	if err != nil {
		return answer{}, err
	}
	if a.params.P >= 1 {
		return answer{}, fmt.Errorf("%d keys in %d bits have a rate of 1: give more memory or fewer keys", given.N, given.M)
	}
	if _, err := bloom.NewSchemeWithParams(a.params, bloom.WithStrategy(a.strategy)); err != nil {
		return answer{}, fmt.Errorf("no such filter: %s", strings.TrimPrefix(err.Error(), "bloom: "))
	}
	return a, nil
}

// kinds returns the strategies that a choice stands for.
func kinds(s bloom.Strategy) []bloom.Strategy {
	if s == bloom.Blocked {
		return []bloom.Strategy{bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8}
	}
	return []bloom.Strategy{s}
}

// rateOf computes the rate of n keys in m bits, for the given k or the best one.
func rateOf(s bloom.Strategy, given bloom.Params) (answer, error) {
	best := answer{rate: math.Inf(1)}
	for _, s := range kinds(s) {
		for k := 1; k <= 64; k++ {
			if given.K != 0 && k != given.K {
				continue
			}
			p := bloom.Params{N: given.N, M: whole(s, given.M), K: k}
			if rate := s.FalsePositiveRate(p.M, k, p.N); rate < best.rate { // false for NaN
				p.P = rate
				best = answer{p, s, rate}
			}
		}
	}
	if math.IsInf(best.rate, 1) {
		return best, fmt.Errorf("strategy %q cannot have m = %d bits with k = %d", s, given.M, given.K)
	}
	return best, nil
}

// whole rounds m down to bits that the strategy can have.
func whole(s bloom.Strategy, m uint64) uint64 {
	switch s {
	case bloom.DoubleHashing, bloom.SeededHashing:
		return m
	case bloom.SplitBlock:
		return m / 256 * 256
	}
	return m / 512 * 512
}

// sizeOf computes m for n and p: the library's choice, or the least m for the given k.
func sizeOf(s bloom.Strategy, given bloom.Params) (answer, error) {
	if given.K == 0 {
		scheme, err := bloom.NewScheme(given.N, given.P, bloom.WithStrategy(s))
		if err != nil {
			return answer{}, err
		}
		params := scheme.Params()
		return answer{params, scheme.Strategy(), scheme.Strategy().FalsePositiveRate(params.M, params.K, params.N)}, nil
	}
	m, ok := least(1, maxM/64-1, func(words uint64) bool {
		a, err := rateOf(s, bloom.Params{N: given.N, M: words * 64, K: given.K})
		return err == nil && a.rate <= given.P
	})
	if !ok {
		return answer{}, fmt.Errorf("strategy %q does not keep p = %v with k = %d", s, given.P, given.K)
	}
	a, err := rateOf(s, bloom.Params{N: given.N, M: m * 64, K: given.K})
	a.params.P = given.P
	return a, err
}

// keysOf computes the most keys that m bits hold at rate p.
func keysOf(s bloom.Strategy, given bloom.Params) (answer, error) {
	over, ok := least(1, maxM-1, func(n uint64) bool {
		a, err := rateOf(s, bloom.Params{N: n, M: given.M, K: given.K})
		return err != nil || a.rate > given.P
	})
	if !ok || over == 1 {
		return answer{}, fmt.Errorf("m = %d bits keep p = %v for no key", given.M, given.P)
	}
	a, err := rateOf(s, bloom.Params{N: over - 1, M: given.M, K: given.K})
	a.params.P = given.P
	return a, err
}

// least returns the smallest number from low to high that is enough, by doubling and halving.
func least(low, high uint64, enough func(uint64) bool) (uint64, bool) {
	top := low
	for !enough(top) {
		if top > high/2 {
			return 0, false
		}
		low, top = top+1, top*2
	}
	for low < top {
		if mid := low + (top-low)/2; enough(mid) {
			top = mid
		} else {
			low = mid + 1
		}
	}
	return top, true
}

// A page is what the page shows for its fields.
type page struct {
	answer
	read map[string]string // how the fields were read
	code string
	// rates are the false-positive rates after 0 to 2n keys, in equal steps.
	rates []float64
}

// calculate computes a page from the texts of its fields: strategy, n, p, m, unit and k. It
// returns what it could read also with an error.
func calculate(field map[string]string) (page, error) {
	p := page{read: map[string]string{}}
	value := map[string]float64{}
	for _, name := range []string{"n", "p", "m", "k"} {
		text := strings.TrimSpace(field[name])
		if text == "" {
			continue
		}
		x, err := number(text, name != "p" && name != "m")
		if err != nil {
			return p, fmt.Errorf("%s = %q is not a number", name, text)
		}
		if x <= 0 {
			return p, fmt.Errorf("%s = %q, want more than 0", name, text)
		}
		if value[name] = x; name == "m" {
			unit, err := number(field["unit"], true)
			if err != nil {
				return p, fmt.Errorf("unit %q", field["unit"])
			}
			if value[name] = math.Floor(x * unit); value[name] < 1 {
				return p, fmt.Errorf("m = %q is less than a bit", text)
			}
			p.read[name] = fmt.Sprintf("%s bits", separated(value[name]))
		} else if name == "p" {
			p.read[name] = fmt.Sprintf("%.4g %%, one in %s", 100*x, separated(math.Round(1/x)))
		} else {
			p.read[name] = separated(x)
		}
	}
	a, err := solve(field["strategy"], value["n"], value["p"], value["m"], value["k"])
	if err != nil {
		return p, err
	}
	p.answer = a
	option := ""
	if a.strategy != bloom.DoubleHashing {
		option = ", bloom.WithStrategy(bloom." + goName(a.strategy) + ")"
	}
	p.code = fmt.Sprintf("f, err := bloom.NewWithParams(bloom.Params{N: %d, P: %v, M: %d, K: %d}%s)", a.params.N, a.params.P, a.params.M, a.params.K, option)
	if value["m"] == 0 && value["k"] == 0 {
		if option != "" { // bloom.Blocked chooses among its kinds
			option = ", bloom.WithStrategy(bloom." + strings.TrimRight(goName(a.strategy), "1248") + ")"
		}
		p.code = fmt.Sprintf("f, err := bloom.New(%d, %v%s)", a.params.N, a.params.P, option)
	}
	const steps = 64
	for i := range steps + 1 {
		keys := uint64(math.Round(2 * float64(a.params.N) * float64(i) / steps))
		p.rates = append(p.rates, a.strategy.FalsePositiveRate(a.params.M, a.params.K, keys))
	}
	return p, nil
}

// goName is the name of a strategy's variable: double-hashing is DoubleHashing.
func goName(s bloom.Strategy) (name string) {
	for word := range strings.SplitSeq(s.Name(), "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// separated formats a number with commas: 1,234,567.5.
func separated(x float64) string {
	whole, rest, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}
