package bloom

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom/internal/rate"
)

// Symbols, as the literature has them:
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
	N uint64  // planned number of different keys; 0 if unknown
	P float64 // highest false-positive rate up to N keys; 0 if unknown
	M uint64  // number of bits
	K int     // positions per key
}

// ParamsFor returns the parameters that [New] chooses for n keys at rate p: the smallest m for
// which some k has a true rate of at most p, and the smallest such k.
//
// m is a multiple of 64, of 512 for Blocked, of 256 for SplitBlock. Because k is a whole number, m
// is also larger than the bound -n·ln p / (ln 2)²: by less than 0.7 % for p < 0.11, by up to 3.7 %
// for p <= 0.5, and by more for larger p. Blocked needs more, see [Blocked].
//
// For n = 0, m is one word or block.
//
// New chooses the same unless its hash has 64 bits, like [MapHash]. Then it subtracts n/2^64, the
// rate of equal digests, from p. For the parameters with any options, see [NewScheme].
//
// The error wraps [ErrInvalid] for p outside (0, 1) or NaN, a p that needs k > 64, or an invalid
// strategy, and [ErrTooLarge] for m >= 2^53, where the formulas lose their exactness.
func ParamsFor(n uint64, p float64, s Strategy) (Params, error) {
	params, _, err := paramsFor(n, p, s, &murmur3Hash)
	return params, err
}

// paramsFor is ParamsFor with any hash, and says which of Blocked's strategies it has chosen.
func paramsFor(n uint64, p float64, s Strategy, h *hashDefinition) (Params, Strategy, error) {
	params := Params{N: n, P: p}
	if !(p > 0 && p < 1) {
		return params, s, invalid("p = %v, want 0 < p < 1", p)
	}
	if err := s.validate(); err != nil {
		return params, s, err
	}
	d := s.get()
	switch {
	case p < 0x1p-64: // 2^-maxK, when half the bits are set
		return params, s, invalid("p = %v needs k = %.0f, want p >= 2^-%d", p, math.Ceil(-math.Log2(p)), maxK)
	case d.maxP > 0 && (p < d.minP || p > d.maxP):
		return params, s, invalid("p = %v with strategy %q, want %v to %v", p, s, d.minP, d.maxP)
	case p < d.minP:
		return params, s, invalid("p = %v with strategy %q, want at least %v", p, s, d.minP)
	}
	rest := p - d.equalDigests(n, h)
	if !(rest > 0) {
		return params, s, invalid("p = %v with %v, of whose digests n = %d keys take a share of %.2g: want a larger p", p, h, n, p-rest)
	}
	s, err := s.size(&params, rest)
	if err != nil && rest < p {
		err = fmt.Errorf("%w (of p = %v, %.2g are taken by equal digests of %v)", err, p, p-rest, h)
	}
	return params, s, err
}

// equalDigests returns how likely a new key has the whole digest of one of n others, in which
// case no strategy can tell them apart.
func (d *definition) equalDigests(n uint64, h *hashDefinition) float64 {
	if h.bits == 64 && !d.ratesDigests {
		return float64(n) / (1 << 64)
	}
	return 0 // n/2^128
}

// size sets m and k for params.N keys at rate p, and returns the strategy, or the one that Blocked becomes.
func (s Strategy) size(params *Params, p float64) (_ Strategy, err error) {
	d, n := s.get(), params.N
	if d.Size != nil {
		if params.M, params.K, err = d.Size(n, p); err != nil {
			return s, invalid("n = %d and p = %v with strategy %q: %w", n, p, d, err)
		}
		return s, d.check(params.M, params.K)
	}
	unit, step := d.sizedUnit(), max(1, d.kUnit)
	search := rate.Search{N: n, P: p, Most: (maxM - 1) / unit, Unit: unit, MinK: step, MaxK: d.largestK(), StepK: step, AnyK: d.anyRate()}
	if d.onlyK != 0 {
		search.MinK, search.MaxK = d.onlyK, d.onlyK
	}
	if d.MaxM != 0 {
		search.Most = min(search.Most, d.MaxM/unit)
	}
	size := d.lawsOr().size
	if (n == 0 || search.Most == 0) && size == nil {
		params.M, params.K = unit, search.MinK
		return s, d.check(params.M, params.K)
	}
	if least := rate.LeastM(n, p); least >= maxM {
		return s, fail(ErrTooLarge, "n = %d keys at p = %v need %.4g bytes, want fewer than %d", n, p, least/8, uint64(maxM/8))
	}
	var units uint64
	var bad error
	if size != nil {
		units, params.K, s.def = size(d, n, p)
	} else {
		search.Rate = func(units uint64, k int) float64 {
			r := d.rate(units*unit, k, n)
			if math.IsNaN(r) {
				bad = d.noRate(units*unit, k, n)
			}
			return r
		}
		units, params.K = search.Smallest()
	}
	switch {
	case bad != nil:
		return s, bad
	case units > search.Most:
		return s, fail(ErrTooLarge, "no m up to %d bits with strategy %q reaches p = %v for n = %d keys", search.Most*unit, s, p, n)
	}
	params.M = units * unit
	return s, nil
}

// noRate returns the error for a custom strategy whose Rate returns NaN.
func (d *definition) noRate(m uint64, k int, n uint64) error {
	return invalid("strategy %q has rate NaN for m = %d, k = %d and n = %d", d, m, k, n)
}

// anyRate reports whether nothing is known of the rate but that it falls with m.
func (d *definition) anyRate() bool { return d.custom && d.Rate != nil }

// maxM bounds the sizes that are computed: up to here, float64 counts every bit.
const maxM = rate.MaxM
