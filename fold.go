package bloom

import (
	"github.com/seed3447c163/bloom/internal/probe"
)

// FoldTo returns the smallest filter with the same keys, made by folding, whose rate is at most p. Use it if n is
// unknown: make a large filter, add the keys, and shrink it. The result has m/factor bits and equals a filter of that
// size to which the same keys were added. f does not change. The result's P is p, and its N is the number of keys up to
// which it keeps p.
//
// The factor divides m, or for [Blocked] and [SplitBlock] the number of blocks. If the keys need a little more than
// half of m, nothing is saved. Choose a multiple of 2520 words or blocks, which has the divisors 1 to 10: if the keys
// need a little more than a tenth of m, the result has a ninth of m.
//
// FoldTo takes O(m) time, at most about ten passes over m, and up to m bits of memory. It may run
// while keys are added: the result contains every key whose Add returned before FoldTo was called.
//
// The error wraps [ErrInvalid] if New refuses p with this strategy, if p is below the filter's present rate, or if the
// strategy is not DoubleHashing, Blocked or SplitBlock: others cannot be folded exactly.
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

// smallestFold tries the products of primes, which are in falling order, as factors. It returns the smallest fold with
// a rate of at most p, or f itself. count is the number of keys. A fold of a fold has at least the same rate, so a fold
// that exceeds p is not folded again.
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

// foldsBeyond reports whether a fold to m bits exceeds p, judged by its expected rate. With enough bits, five standard
// deviations change the rate by a factor of at most 1.4. With blocks it can differ more, because a few crowded blocks
// dominate the rate.
func (f *BloomFilter) foldsBeyond(m uint64, p float64, count uint64) bool {
	s, k := f.scheme.strategy, f.scheme.params.K
	return s.blockBits() == 1 && m >= 64*uint64(k*k) && s.FalsePositiveRate(m, k, count) > 2*p
}

// fold returns the fold by a factor that divides m or the number of blocks. Its N and P are 0.
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
