package bloom

import "math"

// ParamsForBits returns the parameters for n keys with bitsPerKey bits of memory per key. m is
// n·bitsPerKey, rounded up to whole words or blocks. k is the best k for bitsPerKey, the same for
// every n. P is the strategy's true rate. Pass the result to [NewWithParams].
//
// At 10 bits per key the rate is 0.8 % with [DoubleHashing], 1.1 % with [Blocked], whose z is 2 for up
// to 10 bits per key, 4 for up to 25, and 8 for more. With n = 0, m is one word or block and P is 0.
//
// The error wraps [ErrInvalid] if bitsPerKey is not above 0, so small that the rate is 1,
// or NaN, and for an invalid strategy, and [ErrTooLarge] for m >= 2^53.
func ParamsForBits(n uint64, bitsPerKey float64, s Strategy) (Params, error) {
	params := Params{N: n}
	if err := s.validate(); err != nil {
		return params, err
	}
	if !(bitsPerKey > 0) {
		return params, invalid("%v bits per key, want more than 0", bitsPerKey)
	}
	unit := s.limits().sizeUnit
	m := math.Ceil(float64(n) * bitsPerKey)
	if !(m <= float64(maxM-unit)) || math.IsInf(bitsPerKey, 1) {
		bytes := bitsPerKey * float64(max(n, 1)) / 8
		return params, fail(ErrTooLarge, "n = %d keys at %v bits per key need %.4g bytes, want fewer than %d",
			n, bitsPerKey, bytes, uint64(maxM/8))
	}
	params.M, params.K = (max(uint64(m), 1)+unit-1)/unit*unit, s.bestK(bitsPerKey)
	if err := s.check(params.M, params.K); err != nil {
		return params, err
	}
	params.P = s.FalsePositiveRate(params.M, params.K, n)
	switch {
	case !(params.P >= 0):
		return params, badRate(s.strategy, params.P, params.M, params.K, n)
	case params.P >= 1:
		return params, invalid("%v bits per key, with which every answer is true: want more", bitsPerKey)
	}
	return params, nil
}
