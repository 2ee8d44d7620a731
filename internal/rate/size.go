package rate

import (
	"math"

	"github.com/seed3447c163/bloom/internal/rate/floats"
)

// MaxM ends the searches for m: a float64 represents every integer up to 2^53, but not all above.
const MaxM = 1 << 53

// A Search finds the smallest filter that keeps N keys at or below rate P.
type Search struct {
	N    uint64
	P    float64
	Unit uint64                            // m is a multiple of it, in bits
	Most uint64                            // size of the largest filter in units
	Rate func(units uint64, k int) float64 // falls as units rise

	MinK, MaxK, StepK int  // range of k
	AnyK              bool // try all k, because the rate may have several minima
}

// Smallest returns the smallest number of units for which some k keeps P, and the smallest such k. It returns Most+1
// units if there is none.
func (s Search) Smallest() (units uint64, k int) {
	k = s.startK()
	perKey := max(OptimalM(1, s.P), float64(k)/load(s.P, k))
	units = s.leastFor(k, uint64(min(float64(s.N)*perKey/float64(s.Unit), float64(s.Most))))
	for units > 1 {
		better := s.someK(units-1, k)
		if better == 0 {
			break
		}
		k = better
		units = s.leastFor(k, units-1)
	}
	if units > s.Most {
		return units, k
	}
	if s.AnyK {
		return units, s.someK(units, s.MinK)
	}
	for k > s.MinK && s.keeps(units, k-s.StepK) {
		k -= s.StepK
	}
	return units, k
}

// startK returns the k that is nearest to the best k for independent positions.
func (s Search) startK() int {
	steps := math.Round((-floats.Log(s.P)/math.Ln2 - float64(s.MinK)) / float64(s.StepK))
	return s.MinK + int(min(max(steps, 0), float64((s.MaxK-s.MinK)/s.StepK)))*s.StepK
}

// load returns kn/m for a filter with independent positions whose rate is p.
func load(p float64, k int) float64 { return -floats.Log1p(-floats.Root(p, k)) }

func (s Search) keeps(units uint64, k int) bool { return s.Rate(units, k) <= s.P }

// someK returns a k that keeps P with the given units, or 0. With AnyK it tries all k. Otherwise it goes from the given
// k in the direction in which the rate falls, until the rate rises.
func (s Search) someK(units uint64, k int) int {
	if s.AnyK {
		for c := k; c <= s.MaxK; c += s.StepK {
			if s.keeps(units, c) {
				return c
			}
		}
		for c := s.MinK; c < k; c += s.StepK {
			if s.keeps(units, c) {
				return c
			}
		}
		return 0
	}
	best := s.Rate(units, k)
	for _, step := range []int{s.StepK, -s.StepK} {
		c, rate := k, best
		for rate > s.P {
			c += step
			if c < s.MinK || c > s.MaxK {
				break
			}
			before := rate
			if rate = s.Rate(units, c); rate >= before {
				break
			}
		}
		if rate <= s.P {
			return c
		}
		if c != k+step { // the rate falls in this direction, so it rises in the other
			break
		}
	}
	return 0
}

// leastFor returns the smallest number of units that keeps P with this k, or Most+1. It uses the secant method on
// log(load(rate)), which is linear in log(units) for independent positions, and nearly linear for others.
func (s Search) leastFor(k int, guess uint64) uint64 {
	low, high := uint64(0), s.Most+1 // low units are too few; high units suffice, or are Most+1
	units := min(max(1, guess), s.Most)
	lastX, lastExcess, slope := 0.0, 0.0, -1.0
	want := floats.Log(load(s.P, k))
	for i := 0; high-low > 1; i++ {
		rate := s.Rate(units, k)
		if rate <= s.P {
			high = units
		} else {
			low = units
		}
		excess, x := floats.Log(load(rate, k))-want, floats.Log(float64(units))
		if i > 0 && x != lastX && excess != lastExcess {
			slope = (excess - lastExcess) / (x - lastX)
		}
		lastX, lastExcess = x, excess
		aim := math.Ceil(floats.Exp(x - excess/slope))
		switch {
		case i > 40 || !(aim > 0):
			units = low + (high-low)/2
		case aim >= float64(high):
			units = high - 1
		default:
			units = max(low+1, uint64(aim))
		}
	}
	return high
}

// OptimalM returns the number of bits for n keys at rate p if half of the bits are then set: m = -n·ln p / (ln 2)², not
// rounded.
//
// Source: Broder & Mitzenmacher 2004, section 2.
func OptimalM(n uint64, p float64) float64 {
	return -float64(n) * floats.Log(p) / (math.Ln2 * math.Ln2)
}

// LeastM returns the least number of bits that n keys need at rate p: OptimalM, or more for p > 0.5, where OptimalM
// assumes a k below 1.
func LeastM(n uint64, p float64) float64 {
	if p > 0.5 {
		return -float64(n) / floats.Log1p(-p)
	}
	return OptimalM(n, p)
}
