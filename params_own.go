package bloom

import (
	"fmt"
	"math"
)

// rules reports whether the strategy is sized by its definition: an own one that has
// anything to say about it, and SplitBlock.
func (d *definition) rules() bool {
	return d.id == idSplitBlock || d.own() && (d.Size != nil || d.Rate != nil || d.K != 0 || d.kUnit() > 1 || d.largestK() < maxK || d.Unit != 0 && d.Unit != 64 || d.MaxM != 0)
}

// sizeByRules finds m and k for n keys at rate p: by the strategy's Size, or else the
// smallest m at which some k keeps p, and the smallest such k.
func (d *definition) sizeByRules(p *Params) (err error) {
	switch {
	case d.Size != nil:
		if p.M, p.K, err = d.Size(p.N, p.P); err != nil {
			return fmt.Errorf("%w: n = %d and p = %v with strategy %q: %w", ErrInvalid, p.N, p.P, d.name, err)
		}
	case p.N == 0:
		p.M, p.K = d.sizedUnit(), max(d.K, d.kUnit())
	default:
		if err := d.leastSize(p); err != nil {
			return err
		}
	}
	return d.check(p.M, p.K)
}

// leastSize searches all k. The least m falls with k and then rises, but for its rounding:
// a few steps beyond the best are enough.
func (d *definition) leastSize(p *Params) error {
	const further = 3
	s, unit := Strategy{d}, d.sizedUnit()
	first, last, step := d.kUnit(), d.largestK(), d.kUnit()
	if d.K != 0 {
		first, last = d.K, d.K
	}
	most := uint64(maxM) / unit // of units
	if d.MaxM != 0 {
		most = min(most, d.MaxM/unit)
	}
	best, worse := most+1, 0
	for k := first; k <= last && worse < further; k += step {
		var odd error
		enough := func(units uint64) bool {
			rate := s.FalsePositiveRate(units*unit, k, p.N)
			if math.IsNaN(rate) {
				odd = fmt.Errorf("%w: strategy %q has rate NaN for m = %d, k = %d and n = %d", ErrInvalid, d.name, units*unit, k, p.N)
			}
			return rate <= p.P || odd != nil
		}
		if !enough(min(best, most)) { // not with fewer than the best k needs
			if best <= most {
				worse++
			}
			continue
		}
		units := leastFrom(min(max(1, uint64(OptimalM(p.N, p.P))/unit), min(best, most)), enough)
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
		return fmt.Errorf("%w: no m up to %d bits with strategy %q reaches p = %v for n = %d keys", ErrTooLarge, most*unit, d.name, p.P, p.N)
	}
	p.M = best * unit
	return nil
}

// kForBits returns the k with the smallest rate at so many bits a key, tried with enough
// keys.
func (d *definition) kForBits(bitsPerKey float64) (k int) {
	if d.K != 0 {
		return d.K
	}
	const keys = 10_000
	unit, best := d.sizedUnit(), math.Inf(1)
	m := (max(uint64(keys*min(bitsPerKey, 1<<20)), 1) + unit - 1) / unit * unit
	for c := d.kUnit(); c <= d.largestK(); c += d.kUnit() {
		if rate := (Strategy{d}).FalsePositiveRate(m, c, keys); rate < best {
			k, best = c, rate
		}
	}
	return max(k, d.kUnit())
}
