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
//	k  bits that belong to a key
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
	N uint64  // different keys it is planned for; 0 if unknown, or none
	P float64 // false-positive rate promised at N keys; 0 if unknown
	M uint64  // bits
	K int     // bits that belong to a key
}

// ParamsFor returns the parameters that [New] chooses for n keys at rate p: the
// smallest m at which some k keeps the strategy's true rate at or below p, and the
// smallest such k. (No other k does with fewer bits, up to the rounding of m; with
// as many bits, fewer probes are faster.)
//
// m is rounded up to whole 64-bit words, for Blocked to whole blocks of 512 bits, for
// SplitBlock, whose k is 8, of 256.
// Apart from that it exceeds the bound -n·ln p / (ln 2)² because k is a whole number, by less than
// 0.7 % for p < 0.11 and by up to 3.7 % for p <= 0.5; for still larger p even k = 1
// is more than the bound asks for. For Blocked it is more, see there.
//
// For n = 0 it is the smallest there is: one word or block.
//
// New has the same unless its hash has 64 bits, as [MapHash]: then it takes off p how often
// whole digests are equal, n/2^64, which makes a difference where p is about that small.
// [NewScheme] says what it chooses with any options.
//
// The error wraps [ErrInvalid] for p outside (0, 1) or NaN, a p so small
// that it needs k > 64, or an invalid strategy, and [ErrTooLarge] for
// m >= 2^53, where the formulas lose their exactness.
func ParamsFor(n uint64, p float64, s Strategy) (Params, error) {
	params, _, err := paramsFor(n, p, s, &murmur3Hash)
	return params, err
}

// paramsFor is ParamsFor with any hash, and says which of Blocked's strategies it has chosen.
func paramsFor(n uint64, p float64, s Strategy, h *hashDefinition) (Params, Strategy, error) {
	// Keys with equal digests are part of the rate. Without that part, p must still be possible.
	equal, rest := equalDigests(n, h.bits), p
	if p > 0 && p < 1 { // sizeFor refuses any other
		if rest -= equal; rest <= 0 {
			return Params{}, s, fmt.Errorf("%w: p = %v with %v, of whose digests n = %d keys take a share of %.2g: want a larger p", ErrInvalid, p, h, n, equal)
		}
	}
	params, s, err := sizeFor(n, rest, s)
	if err != nil && rest < p {
		err = fmt.Errorf("%w (of p = %v, %.2g are taken by equal digests of %v)", err, p, equal, h)
	}
	params.P = p
	return params, s, err
}

// equalDigests returns how likely a new key has the whole digest of one of n others, in which
// case no strategy can tell them apart.
func equalDigests(n uint64, bits int) float64 {
	if bits == 64 {
		return float64(n) / (1 << 64)
	}
	return 0 // n/2^128
}

// sizeFor returns the parameters of the strategy for n keys at rate p.
func sizeFor(n uint64, p float64, s Strategy) (Params, Strategy, error) {
	params := Params{N: n, P: p}
	if !(p > 0 && p < 1) {
		return params, s, fmt.Errorf("%w: p = %v, want 0 < p < 1", ErrInvalid, p)
	}
	if err := s.validate(); err != nil {
		return params, s, err
	}
	if ideal := math.Ceil(-math.Log2(p)); ideal > maxK { // k that sets half the bits
		return params, s, fmt.Errorf("%w: p = %v needs k = %.0f bits a key, want p >= 2^-%d", ErrInvalid, p, ideal, maxK)
	}
	m := rate.OptimalM(n, p)
	if p > 0.5 { // k = 1, which is more than the bound's fraction of one
		m = -float64(n) / math.Log1p(-p)
	}
	if m >= maxM {
		return params, s, fmt.Errorf("%w: n = %d keys at p = %v need %.4g bytes, want fewer than %d", ErrTooLarge, n, p, m/8, uint64(maxM/8))
	}
	d := s.get()
	switch {
	case d.maxP > 0 && (p < d.minP || p > d.maxP):
		return params, s, fmt.Errorf("%w: p = %v with strategy %q, want %v to %v", ErrInvalid, p, s, d.minP, d.maxP)
	case p < d.minP:
		return params, s, fmt.Errorf("%w: p = %v with strategy %q, want at least %v", ErrInvalid, p, s, d.minP)
	case d.sizedByDefinition() && !s.blocked(): // which has a search of its own
		err := d.sizeByDefinition(&params)
		return params, s, err
	case s.blocked():
		params.M, params.K, s = blockedParams(n, p, s)
	case n == 0:
		params.M, params.K = 64, 1
	default:
		params.M, params.K = independentParams(n, p)
	}
	if params.M >= maxM { // a whole k and whole blocks need more than the bound above
		return params, s, fmt.Errorf("%w: n = %d keys at p = %v need %d bytes with strategy %q, want fewer than %d", ErrTooLarge, n, p, params.M/8, s, uint64(maxM/8))
	}
	return params, s, nil
}

// sizedByDefinition reports whether the definition says anything about m, k or the rate.
func (d *definition) sizedByDefinition() bool {
	return d.Size != nil || d.Rate != nil || d.onlyK != 0 || d.kUnit > 1 || d.largestK() < maxK || d.Unit != 0 && d.Unit != 64 || d.MaxM != 0
}

// sizeByDefinition finds m and k for n keys at rate p: by the strategy's Size, or else the
// smallest m at which some k keeps p, and the smallest such k.
func (d *definition) sizeByDefinition(p *Params) (err error) {
	switch {
	case d.Size != nil:
		if p.M, p.K, err = d.Size(p.N, p.P); err != nil {
			return fmt.Errorf("%w: n = %d and p = %v with strategy %q: %w", ErrInvalid, p.N, p.P, d, err)
		}
	case p.N == 0:
		p.M, p.K = d.sizedUnit(), max(d.onlyK, d.kUnit, 1)
	default:
		if err := d.leastSize(p); err != nil {
			return err
		}
	}
	return d.check(p.M, p.K)
}

// leastSize tries one k after the other. The least m falls with k and then rises, apart from
// its rounding: a few steps beyond the best are enough.
func (d *definition) leastSize(p *Params) error {
	const further = 3
	unit := d.sizedUnit()
	first, last, step := max(1, d.kUnit), d.largestK(), max(1, d.kUnit)
	if d.onlyK != 0 {
		first, last = d.onlyK, d.onlyK
	}
	most := uint64(maxM) / unit // of units
	if d.MaxM != 0 {
		most = min(most, d.MaxM/unit)
	}
	best, worse := most+1, 0
	for k := first; k <= last && worse < further; k += step {
		var odd error
		enough := func(units uint64) bool {
			r := d.rate(units*unit, k, p.N)
			if math.IsNaN(r) {
				odd = fmt.Errorf("%w: strategy %q has rate NaN for m = %d, k = %d and n = %d", ErrInvalid, d, units*unit, k, p.N)
			}
			return r <= p.P || odd != nil
		}
		if !enough(min(best, most)) { // not with fewer than the best k needs
			if best <= most {
				worse++
			}
			continue
		}
		units := rate.Least(min(max(1, uint64(rate.OptimalM(p.N, p.P))/unit), min(best, most)), enough)
		if odd != nil {
			return odd
		}
		if units < best {
			best, p.K, worse = units, k, 0
		} else {
			worse++
		}
	}
	if best > most {
		return fmt.Errorf("%w: no m up to %d bits with strategy %q reaches p = %v for n = %d keys", ErrTooLarge, most*unit, d, p.P, p.N)
	}
	p.M = best * unit
	return nil
}

// independentParams returns m and k for strategies whose positions are independent.
func independentParams(n uint64, p float64) (m uint64, k int) {
	// Around the ideal k the memory is flat: one of the two whole numbers beside it
	// is the best, and for a handful of keys no other is better by a word.
	k = max(1, int(-math.Log2(p)))
	words := minWords(n, p, k)
	if k < maxK && words > 1 && keepsP(n, p, words-1, k+1) {
		k++
		words = rate.Least(words-1, func(w uint64) bool { return keepsP(n, p, w, k) })
	}
	smaller := k
	for smaller > 1 && rate.Textbook(words*64, smaller-1, n) <= p {
		smaller--
	}
	for smaller < k && !keepsP(n, p, words, smaller) {
		smaller++
	}
	return words * 64, smaller
}

// maxM bounds the sizes that are computed: up to here, float64 counts every bit.
const maxM = 1 << 53

// keepsP reports whether n keys of k bits each in so many words have a rate of at most p.
// The textbook's rate is always the lower one, and often answers in a tenth of the time.
func keepsP(n uint64, p float64, words uint64, k int) bool {
	return rate.Textbook(words*64, k, n) <= p && rate.Independent(words*64, k, n) <= p
}

// minWords returns the smallest number of 64-bit words that keeps n keys of k
// bits at or below rate p. It starts from the textbook's m and goes on, first by
// the cheap rate, then by the true one: a few steps at any size.
func minWords(n uint64, p float64, k int) uint64 {
	m := -float64(k) * float64(n) / math.Log1p(-math.Pow(p, 1/float64(k)))
	words := rate.Least(max(1, uint64(m/64)), func(w uint64) bool { return rate.Expanded(w*64, k, n) <= p })
	return rate.Least(words, func(w uint64) bool { return keepsP(n, p, w, k) })
}
