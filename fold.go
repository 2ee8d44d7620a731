package bloom

import (
	"fmt"

	"github.com/seed3447c163/bloom/internal/fold"
	"github.com/seed3447c163/bloom/internal/rate"
)

// FoldTo returns the smallest fold of the filter whose rate with
// the keys that are in it is at most p, as its bits say. It is what to call before a filter
// that was made too large is written to a file. P becomes p, and N the number of keys for
// which the fold is made to keep it.
//
// Only whole factors are possible. If the keys need a little more than half of m, nothing
// is saved; if a tenth, at most a tenth is wasted, if m has all the small divisors. So let m
// be ten times of what is expected, and a multiple of 2520 words or blocks, which has the
// divisors 1 to 10: up to 20 or 161 kB more. The filter itself stays as it is.
//
// It takes O(m) time for each of the two or three folds that it tries. The error wraps
// [ErrInvalid] if p is not between 0 and 1, if the rate of the filter is above p as it is,
// and if
// the strategy has no exact fold: [DoubleHashing], Blocked1 to Blocked8 and [SplitBlock] have.
//
// A fold by a factor has m/factor bits and is, bit for bit, the filter that would have been
// made if all keys had been added to one of that size.
func (f *BloomFilter) FoldTo(p float64) (*BloomFilter, error) {
	s := f.scheme.orNone()
	unit, err := s.strategy.foldUnit()
	if err != nil {
		return nil, err
	}
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", ErrInvalid, p)
	}
	ones, rate := f.onesAndRate()
	count := f.countOf(ones)
	collisions := s.strategy.def.equalDigests(count, s.hash.def)
	if rate+collisions > p {
		return nil, fmt.Errorf("%w: p = %v, want at least %v, which is the filter's rate as it is", ErrInvalid, p, rate+collisions)
	}
	units := s.params.M / unit
	for _, factor := range fold.Divisors(units) {
		// The bits decide, but a fold takes long: not where the rate is to be twice p.
		if s.strategy.FalsePositiveRate(s.params.M/factor, s.params.K, count)+collisions > 2*p {
			continue
		}
		small, err := f.fold(factor, p)
		if err != nil {
			return nil, err
		}
		if small.Stats().EstimatedFalsePositiveRate+collisions <= p {
			return small, nil
		}
	}
	return f.fold(1, p) // some key has come meanwhile
}

// foldUnit returns how many bits are merged as one.
func (s Strategy) foldUnit() (uint64, error) {
	if unit := s.get().foldUnit; unit > 0 {
		return unit, nil
	}
	return 0, fmt.Errorf("%w: a filter with strategy %q has no exact fold", ErrInvalid, s)
}

// fold returns the fold by a factor that divides m, with this P.
func (f *BloomFilter) fold(factor uint64, p float64) (*BloomFilter, error) {
	s := f.scheme
	params := Params{M: s.params.M / factor, K: s.params.K, P: p}
	if p > 0 {
		params.N = s.keysFor(params, s.params.N/factor)
	}
	small := new(scheme)
	if err := small.set(params, s.strategy, s.hash); err != nil {
		return nil, err
	}
	unit, err := s.strategy.foldUnit()
	if err != nil {
		return nil, err
	}
	bits := makeWords(wordsFor(params.M))
	if unit == 1 {
		fold.Bits(bits, f.bits, factor, s.params.M)
	} else {
		fold.Blocks(bits, f.bits, int(factor), int(unit/64))
	}
	return small.filter(bits), nil
}

// keysFor returns how many keys a filter with these parameters keeps its P for, which is
// near the guess. An own strategy's Rate may never come to P: it is asked up to maxM keys.
func (s *scheme) keysFor(params Params, guess uint64) uint64 {
	return rate.Least(min(max(1, guess), maxM), func(n uint64) bool {
		return n > maxM || !(s.strategy.FalsePositiveRate(params.M, params.K, n)+s.strategy.def.equalDigests(n, s.hash.def) <= params.P)
	}) - 1
}
