package bloom

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom/internal/rate"
)

// Symbols, as in the literature:
//
//	n  different keys that are added
//	m  bits of the filter
//	k  positions per key
//	p  false-positive rate: how often a key that was never added is answered with true
//	x  bits that are set
//
// Sources:
//
//	Bloom 1970: "Space/time trade-offs in hash coding with allowable errors", CACM 13(7).
//	Broder & Mitzenmacher 2004: "Network applications of Bloom filters: a survey", Internet Mathematics 1(4).
//	Swamidass & Baldi 2007: "Mathematical correction for fingerprint similarity measures to improve
//	chemical retrieval", J. Chem. Inf. Model. 47(3).
//	Bose et al. 2008: "On the false-positive rate of Bloom filters", IPL 108(4).

// Params are the four numbers of a filter.
type Params struct {
	N uint64  `json:"n"` // planned number of different keys; 0 if unknown
	P float64 `json:"p"` // highest false-positive rate up to N keys; 0 if unknown
	M uint64  `json:"m"` // number of bits
	K int     `json:"k"` // positions per key
}

// paramsFor returns the parameters that [NewScheme] chooses.
func paramsFor(n uint64, p float64, s Strategy, h *Hash) (params Params, err error) {
	params = Params{N: n, P: p}
	if err := s.validate(); err != nil {
		return params, err
	}
	if err := s.checkP(p); err != nil {
		return params, err
	}
	rest := p - h.equalDigests(n)
	if !(rest > 0) {
		return params, invalid("p = %v with %v: equal digests of n = %d keys have a rate of %.2g, want a larger p", p, h, n, p-rest)
	}
	params.M, params.K, err = s.size(n, rest)
	if err == nil {
		err = s.check(params.M, params.K)
	} else if rest < p {
		err = fmt.Errorf("%w (of p = %v, %.2g are taken by equal digests of %v)", err, p, p-rest, h)
	}
	return params, err
}

// checkP returns an error for a p that the strategy cannot keep.
func (s Strategy) checkP(p float64) error {
	switch l := s.limits(); {
	case !(p > 0 && p < 1):
		return invalid("p = %v, want 0 < p < 1", p)
	case p < minP:
		return invalid("p = %v needs k = %.0f, want p >= 2^-%d", p, math.Ceil(-math.Log2(p)), maxK)
	case l.maxP < 1 && (p < l.minP || p > l.maxP):
		return invalid("p = %v with strategy %q, want %v to %v", p, s, l.minP, l.maxP)
	case p < l.minP:
		return invalid("p = %v with strategy %q, want at least %v", p, s, l.minP)
	}
	return nil
}

// search returns the smallest m for which some k keeps rate p, and the smallest such k. search assumes that the rate
// falls as m grows. Unless anyK is true, it also assumes that the rate has only one minimum among the k.
func search(s strategy, n uint64, p float64, anyK bool) (m uint64, k int, err error) {
	l := s.limits()
	unit := sizeUnit(s)
	most := min(maxM-1, l.maxM) / unit
	if n == 0 || most == 0 {
		return unit, l.minK, nil
	}
	if err := possible(n, p); err != nil {
		return 0, 0, err
	}
	var bad error
	units, k := rate.Search{
		N: n, P: p, Most: most, Unit: unit, MinK: l.minK, MaxK: l.maxK, StepK: l.stepK, AnyK: anyK,
		Rate: func(units uint64, k int) float64 {
			r := s.rate(units*unit, k, n)
			if !(r >= 0) {
				bad = badRate(s, r, units*unit, k, n)
			}
			return r
		},
	}.Smallest()
	switch {
	case bad != nil:
		return 0, 0, bad
	case units > most:
		return 0, 0, noSize(s, most*unit, n, p)
	}
	return units * unit, k, nil
}

// possible returns an error if no strategy reaches p for n keys with fewer than maxM bits.
func possible(n uint64, p float64) error {
	if least := rate.LeastM(n, p); least >= maxM {
		return fail(ErrTooLarge, "n = %d keys at p = %v need %.4g bytes, want fewer than %d", n, p, least/8, uint64(maxM/8))
	}
	return nil
}

func noSize(s strategy, most, n uint64, p float64) error {
	return fail(ErrTooLarge, "no m up to %d bits with strategy %q reaches p = %v for n = %d keys", most, s.called(), p, n)
}

// badRate returns the error for a custom strategy whose Rate returns NaN or a negative number.
func badRate(s strategy, rate float64, m uint64, k int, n uint64) error {
	return invalid("strategy %q has rate %v for m = %d, k = %d and n = %d, want 0 to 1", s.called(), rate, m, k, n)
}

// maxM bounds the sizes that are computed: a float64 represents every smaller integer.
const maxM = rate.MaxM

// wholeKeys returns n rounded, or the largest uint64 if n is not a number of keys.
func wholeKeys(n float64) uint64 {
	if !(n >= 0 && n < math.MaxUint64) { // a custom strategy's EstimateCount may return anything
		return math.MaxUint64
	}
	return uint64(math.Round(n))
}

// ParamsForBits returns the parameters for n keys with bitsPerKey bits of memory per key. m is n·bitsPerKey, rounded up
// to whole words or blocks. k is the best k for bitsPerKey, the same for every n. P is the result of
// [Strategy.FalsePositiveRate]. Pass the result to [NewSchemeWithParams].
//
// At 10 bits per key the rate is 0.8 % with [DoubleHashing] and 1.1 % with [Blocked]. A key of Blocked has its bits in
// 2 words up to 10 bits per key, in 4 words up to 25, and in 8 words above. With n = 0, m is one word or block and P is
// 0.
//
// The error wraps [ErrInvalid] if bitsPerKey is NaN, not above 0, or so small that the rate is 1, and for an invalid
// strategy. It wraps [ErrTooLarge] for m >= 2^53.
func ParamsForBits(n uint64, bitsPerKey float64, s Strategy) (Params, error) {
	params := Params{N: n}
	if err := s.validate(); err != nil {
		return params, err
	}
	if !(bitsPerKey > 0) {
		return params, invalid("%v bits per key, want more than 0", bitsPerKey)
	}
	unit := sizeUnit(s)
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
