// Package sizing computes one of n, p and m from the other two.
package sizing

import (
	"errors"
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
)

// Solve returns the scheme for two of n, p and m (in bits); the third is 0. If all three are given, it checks that they
// agree. It computes every filter with bloom.NewScheme, and finds n or p by bisection.
func Solve(s bloom.Strategy, n, p, m float64) (*bloom.Scheme, error) {
	const most = 1 << 53
	for what, v := range map[string]float64{"n": n, "m": m} {
		if v != math.Floor(v) || v >= most && m > 0 || v >= 1<<63 {
			return nil, fmt.Errorf("%s = %v, want a whole number below 2^53", what, v)
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
			return nil, fmt.Errorf("%s bits keep p = %v for no key", humanize.Commaf(m), p)
		}
	case n > 0 && m > 0:
		if p = 0.99; !fits(n, p) {
			p = 0.5 // SplitBlock takes no larger p
		}
		if !fits(n, p) {
			return nil, fmt.Errorf("%s bits are too few for %s keys: their rate is 1, or nearly so",
				humanize.Commaf(m), humanize.Commaf(n))
		}
		for low := 1e-20; p/low > 1.0001; {
			if middle := math.Sqrt(low * p); fits(n, middle) {
				p = middle
			} else {
				low = middle
			}
		}
		exponent := math.Pow10(3 - int(math.Ceil(math.Log10(p))))
		p = math.Ceil(p*exponent) / exponent // round up to three digits
	default:
		return nil, errors.New("give two of n, p and the memory")
	}
	scheme, err := bloom.NewScheme(uint64(n), p, bloom.WithStrategy(s))
	if err == nil && m > 0 && float64(scheme.Params().M) > m {
		err = fmt.Errorf("n, p and m contradict each other: %s keys at p = %v need %s bits, not %s; leave one of the three empty",
			humanize.Commaf(n), p, humanize.Commaf(float64(scheme.Params().M)), humanize.Commaf(m))
	}
	return scheme, err
}
