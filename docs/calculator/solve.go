package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/seed3447c163/bloom"
)

// strategies are those that the page offers, the default first.
var strategies = []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8, bloom.SplitBlock, bloom.SeededHashing}

func strategyNamed(name string) (bloom.Strategy, error) {
	for _, s := range strategies {
		if s.Name() == name {
			return s, nil
		}
	}
	return bloom.Strategy{}, fmt.Errorf("strategy %q, want one that the page offers", name)
}

// An answer is a whole filter, and its true rate after n keys.
type answer struct {
	params   bloom.Params
	strategy bloom.Strategy
	rate     float64
}

// maxM bounds the searches: the library computes with fewer bits than this.
const maxM = 1 << 53

// solve finds what is missing, 0, of n, p, m and k. It needs n and p, n and m, or p and m;
// with k given too, that k is kept.
func solve(name string, n, p, m, k float64) (answer, error) {
	s, err := strategyNamed(name)
	if err != nil {
		return answer{}, err
	}
	for what, v := range map[string]float64{"n": n, "m": m, "k": k} {
		if v < 0 || v != math.Floor(v) || v >= maxM {
			return answer{}, fmt.Errorf("%s = %v, want a whole number from 1", what, v)
		}
	}
	if p != 0 && !(p > 0 && p < 1) {
		return answer{}, fmt.Errorf("p = %v, want a rate between 0 and 1", p)
	}
	if k > 255 {
		return answer{}, fmt.Errorf("k = %v, want at most 255", k)
	}
	given := bloom.Params{N: uint64(n), P: p, M: uint64(m), K: int(k)}
	switch {
	case n > 0 && m > 0:
		return rateOf(s, given)
	case n > 0 && p > 0:
		return sizeOf(s, given)
	case p > 0 && m > 0:
		return keysOf(s, given)
	}
	return answer{}, errors.New("give two of n, p and the memory")
}

// kinds are what a strategy may turn out to be: Blocked is one of four.
func kinds(s bloom.Strategy) []bloom.Strategy {
	if s == bloom.Blocked {
		return []bloom.Strategy{bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8}
	}
	return []bloom.Strategy{s}
}

// rateOf keeps n and m: the rate for the given k, or for the best one.
func rateOf(s bloom.Strategy, given bloom.Params) (answer, error) {
	best := answer{rate: math.Inf(1)}
	for _, s := range kinds(s) {
		for k := 1; k <= 64; k++ {
			if given.K != 0 && k != given.K {
				continue
			}
			p := bloom.Params{N: given.N, M: whole(s, given.M), K: k}
			if rate := s.FalsePositiveRate(p.M, k, p.N); rate < best.rate { // NaN is not
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

// whole is the largest number of bits up to m that the strategy can have.
func whole(s bloom.Strategy, m uint64) uint64 {
	switch s {
	case bloom.DoubleHashing, bloom.SeededHashing:
		return m
	case bloom.SplitBlock:
		return m / 256 * 256
	}
	return m / 512 * 512
}

// sizeOf keeps n and p: the library's choice, or the least m for the given k.
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

// keysOf keeps p and m: the most keys.
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

// least returns the smallest number from low to high that is enough.
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

// curve returns the rates after 0 to 2n keys, in so many steps.
func curve(name string, m uint64, k int, n uint64, steps int) ([]float64, error) {
	s, err := strategyNamed(name)
	if err != nil {
		return nil, err
	}
	rates := []float64{0}
	for i := 1; i <= steps; i++ {
		keys := uint64(math.Round(2 * float64(n) * float64(i) / float64(steps)))
		rates = append(rates, s.FalsePositiveRate(m, k, keys))
	}
	return rates, nil
}

// open reads a filter of the library's own format, and describes it.
func open(data []byte) (*bloom.BloomFilter, [][2]string, error) {
	f, err := bloom.Read(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	s := f.Stats()
	count := strconv.FormatUint(s.EstimatedCount, 10)
	if s.EstimatedCount == math.MaxUint64 {
		count = "unknown: every bit is set"
	}
	return f, [][2]string{
		{"strategy", s.Strategy},
		{"hash", s.Hash},
		{"bits (m)", strconv.FormatUint(s.M, 10)},
		{"bits of a key (k)", strconv.Itoa(s.K)},
		{"planned for keys (n)", strconv.FormatUint(s.N, 10)},
		{"promised rate (p)", strconv.FormatFloat(s.P, 'g', 4, 64)},
		{"bits that are set", fmt.Sprintf("%d, %.1f %%", s.Ones, 100*s.FillRatio)},
		{"keys, estimated", count},
		{"rate now, estimated", strconv.FormatFloat(s.EstimatedFalsePositiveRate, 'g', 4, 64)},
	}, nil
}
