package bloom

import (
	"math"
)

// ParamsForBits returns the parameters for n keys with bitsPerKey bits of memory per key. m is
// n·bitsPerKey, rounded up to whole words or blocks. k is the best k for bitsPerKey, the same for
// every n. P is the strategy's true rate. Pass the result to [NewWithParams].
//
// At 10 bits per key the rate is 0.8 % with [DoubleHashing], 1.1 % with [Blocked2]. [Blocked] is an
// error: use Blocked2 for up to 10 bits per key, Blocked4 for up to 25, Blocked8 for more. With
// n = 0, m is one word or block and P is 0.
//
// The error wraps [ErrInvalid] if bitsPerKey is not above 0, so small that the rate is 1,
// or NaN, and for an invalid strategy, and [ErrTooLarge] for m >= 2^53.
func ParamsForBits(n uint64, bitsPerKey float64, s Strategy) (Params, error) {
	params := Params{N: n}
	if err := s.validate(); err != nil {
		return params, err
	}
	if len(s.def.members) > 0 {
		return params, invalid("strategy %q has no k of its own for %v bits per key, want Blocked1, Blocked2, Blocked4 or Blocked8", s, bitsPerKey)
	}
	if !(bitsPerKey > 0) {
		return params, invalid("%v bits per key, want more than 0", bitsPerKey)
	}
	unit := s.get().sizedUnit()
	m := math.Ceil(float64(n) * bitsPerKey)
	if !(m <= float64(maxM-unit)) || math.IsInf(bitsPerKey, 1) {
		return params, fail(ErrTooLarge, "n = %d keys at %v bits per key need %.4g bytes, want fewer than %d", n, bitsPerKey, bitsPerKey*float64(max(n, 1))/8, uint64(maxM/8))
	}
	params.M, params.K = (max(uint64(m), 1)+unit-1)/unit*unit, s.kForBits(bitsPerKey)
	if err := s.get().check(params.M, params.K); err != nil {
		return params, err
	}
	params.P = s.FalsePositiveRate(params.M, params.K, n)
	switch {
	case math.IsNaN(params.P):
		return params, s.get().noRate(params.M, params.K, n)
	case params.P >= 1:
		return params, invalid("%v bits per key, with which every answer is true: want more", bitsPerKey)
	}
	return params, nil
}

// kForBits returns the k with the smallest rate for many keys at bitsPerKey bits per key: ln 2
// times bitsPerKey, and slightly different for Blocked.
func (s Strategy) kForBits(bitsPerKey float64) int {
	d := s.get()
	switch {
	case d.lawsOr().bestK != nil:
		return d.laws.bestK(d, bitsPerKey)
	case d.onlyK != 0:
		return d.onlyK
	case d.anyRate(), d.largestK() < maxK:
		return d.kForBits(bitsPerKey)
	}
	return int(min(max(1, math.Round(math.Ln2*bitsPerKey)), maxK))
}

// kForBits returns the k with the smallest rate at bitsPerKey bits per key, computed for 10,000
// keys.
func (d *definition) kForBits(bitsPerKey float64) (k int) {
	const keys = 10_000
	unit, best := d.sizedUnit(), math.Inf(1)
	m := (max(uint64(keys*min(bitsPerKey, 1<<20)), 1) + unit - 1) / unit * unit
	for c := 1; c <= d.largestK(); c++ {
		if r := d.rate(m, c, keys); r < best {
			k, best = c, r
		}
	}
	return max(k, 1)
}
