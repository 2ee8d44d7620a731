package bloom

import (
	"github.com/seed3447c163/bloom/internal/probe"
)

// FoldTo returns the smallest filter with the same keys, made by folding, whose rate is at most p.
// Use it if n is unknown: make a large filter, add the keys, and shrink it. The result has m/factor
// bits, and these are the bits that the same keys would have set in a filter of that size. f does
// not change. P of the result is p, and N the number of keys for which it keeps p.
//
// The factor divides m, or for [Blocked] and [SplitBlock] the number of blocks. If the keys need
// a little more than half of m, nothing is saved. A multiple of 2520 words or blocks has the
// divisors 1 to 10. If keys then need a little more than a tenth of m, the result has a ninth of m.
//
// FoldTo takes O(m) time, at most about ten passes over m, and up to m bits of memory. It may run
// while keys are added: the result contains every key whose Add returned before FoldTo was called.
//
// The error wraps [ErrInvalid] if New refuses p with this strategy, if p is below the filter's present rate, and if the
// strategy has no exact fold. [DoubleHashing], [Blocked] and [SplitBlock] have one.
func (f *BloomFilter) FoldTo(p float64) (*BloomFilter, error) {
	s := f.scheme
	if s == nil {
		return nil, errZero
	}
	if !s.strategy.folds() {
		return nil, invalid("a filter with strategy %q has no exact fold", s.strategy)
	}
	if err := s.strategy.checkP(p); err != nil {
		return nil, err
	}
	ones, now := f.measure()
	count := f.countOf(ones)
	collisions := s.hash.equalDigests(count)
	if now+collisions > p {
		return nil, invalid("p = %v, but the filter's rate is already %v", p, now+collisions)
	}
	small := f.smallestFold(probe.Primes(f.blocks), p-collisions, count)
	params := Params{P: p, M: small.scheme.params.M, K: s.params.K}
	params.N = s.keysFor(params)
	if small == f {
		small = f.Clone()
	}
	named, err := newScheme(params, s.strategy, *s)
	if err != nil {
		return nil, err
	}
	return named.filter(small.bits), nil
}

// smallestFold returns the smallest fold by some of the falling prime factors with a rate of at
// most p, or f itself. A fold of a fold has at least the same rate, so the search ends where p is
// exceeded. count is the number of keys.
func (f *BloomFilter) smallestFold(primes []uint64, p float64, count uint64) *BloomFilter {
	best, m, all := f, f.scheme.params.M, uint64(1)
	for _, prime := range primes {
		all *= prime
	}
	for i, prime := range primes {
		if m/all >= best.scheme.params.M {
			break // the other factors together are less than what was found
		}
		all /= prime
		if i > 0 && prime == primes[i-1] || f.foldsBeyond(m/prime, p, count) {
			continue
		}
		small := f.fold(prime)
		if _, rate := small.measure(); rate > p {
			continue
		}
		if small = small.smallestFold(primes[i+1:], p, count); small.scheme.params.M < best.scheme.params.M {
			best = small
		}
	}
	return best
}

// foldsBeyond reports whether a fold of m bits surely exceeds p, by its expected rate. The rate is
// a power of the share of set bits. With enough bits, it differs from the expected rate by less
// than a factor of 1.4 in five standard deviations. The rate of blocks can differ by more, because
// a few crowded blocks dominate it.
func (f *BloomFilter) foldsBeyond(m uint64, p float64, count uint64) bool {
	s, k := f.scheme.strategy, f.scheme.params.K
	return s.blockBits() == 1 && m >= 64*uint64(k*k) && s.FalsePositiveRate(m, k, count) > 2*p
}

// fold returns the fold by a factor that divides, with no N and P.
func (f *BloomFilter) fold(factor uint64) *BloomFilter {
	m := f.scheme.params.M / factor
	s, err := newScheme(Params{M: m, K: f.k}, f.scheme.strategy, *f.scheme)
	if err != nil {
		panic(err) // the strategy can have every fold
	}
	bits := makeWords(wordsFor(m))
	if unit := s.strategy.blockBits(); unit == 1 {
		probe.FoldBits(bits, f.bits, factor)
	} else {
		probe.FoldBlocks(bits, f.bits, int(factor), int(unit/64))
	}
	return s.filter(bits)
}

// keysFor returns the number of keys, at most maxM, for which a filter with these parameters keeps its P.
func (s *scheme) keysFor(params Params) uint64 {
	low, high := uint64(0), uint64(maxM)+1 // low keeps P, high does not
	for high-low > 1 {
		n := low + (high-low)/2
		if s.strategy.FalsePositiveRate(params.M, params.K, n)+s.hash.equalDigests(n) <= params.P {
			low = n
		} else {
			high = n
		}
	}
	return low
}
