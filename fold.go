package bloom

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// FoldTo folds f to the smallest filter with the same keys and a rate of at most p. Use it if n is unknown: make a
// large filter, add the keys, and shrink it. The result has m/factor bits and equals a filter of that size to which the
// same keys were added. f does not change. The result's P is p, and its N is the number of keys up to which its
// expected rate is at most p. The size is chosen by the bits that are set, so N may be a little less than the number of
// keys present, even 0.
//
// The factor divides m, or for [Blocked] and [SplitBlock] the number of blocks. If the smallest factor is 2 and the
// keys need a little more than half of m, nothing is saved. So choose m as a multiple of 2520 words or blocks, which
// has all divisors from 1 to 10: if the keys need a little more than a tenth of m, the result has a ninth of m.
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
	small := f.smallestFold(primeFactors(f.blocks), p-collisions, count)
	params := Params{P: p, M: small.scheme.params.M, K: s.params.K}
	params.N = s.keysFor(params)
	if small == f {
		small = f.Clone()
	}
	named, err := s.with(params)
	if err != nil {
		return nil, err
	}
	return named.over(small.bits), nil
}

// smallestFold returns the smallest fold of f with a rate of at most p, or f itself. It tries products of the given
// primes, which are in falling order, as factors. count is the number of keys. Folding never lowers the rate, so a fold
// that exceeds p is not folded again.
func (f *BloomFilter) smallestFold(primes []uint64, p float64, count uint64) *BloomFilter {
	best, m, all := f, f.scheme.params.M, uint64(1)
	for _, prime := range primes {
		all *= prime
	}
	for i, prime := range primes {
		if m/all >= best.scheme.params.M {
			break // all remaining primes together give no smaller filter than best
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

// foldsBeyond reports whether a fold to m bits certainly exceeds p, so that it need not be made. That is so if its
// expected rate is above 2·p. With enough bits, five standard deviations change the rate by a factor of at most 1.4.
// The result is false for strategies with blocks: a few crowded blocks can change the rate more.
func (f *BloomFilter) foldsBeyond(m uint64, p float64, count uint64) bool {
	s, k := f.scheme.strategy, f.scheme.params.K
	return s.blockBits() == 1 && m >= 64*uint64(k*k) && s.FalsePositiveRate(m, k, count) > 2*p
}

// fold returns the fold by a factor that divides m or the number of blocks. Its N and P are 0.
func (f *BloomFilter) fold(factor uint64) *BloomFilter {
	m := f.scheme.params.M / factor
	s, err := f.scheme.with(Params{M: m, K: f.k})
	if err != nil {
		panic(err) // impossible: the strategy allows every fold
	}
	folded := makeWords(wordsFor(m))
	if unit := s.strategy.blockBits(); unit == 1 {
		foldBits(folded, f.bits, factor)
	} else {
		foldBlocks(folded, f.bits, int(factor), int(unit/64))
	}
	return s.over(folded)
}

// keysFor returns the number of keys, at most maxM, for which a filter with these parameters keeps its P.
func (s *Scheme) keysFor(params Params) uint64 {
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

// How bits are folded
//
// Let f divide m. A strategy that maps a uniform x, 0 <= x < 1, to the position floor(x·m) maps it to floor(position/f)
// in a filter of m/f bits: bit j of the smaller filter is the OR of the bits j·f to j·f+f-1. If a strategy selects
// blocks in this way, and the bits within a block do not depend on m, block j of the smaller filter is the OR of the
// blocks j·f to j·f+f-1.

// primeFactors returns the prime factors of x > 0, the largest first.
func primeFactors(x uint64) (all []uint64) {
	for p := uint64(2); p <= x/p; p++ {
		for ; x%p == 0; x /= p {
			all = append(all, p)
		}
	}
	if x > 1 {
		all = append(all, x)
	}
	slices.Reverse(all)
	return all
}

// foldBlocks merges every factor neighbouring blocks of from into one block of to. words is the number of words per
// block.
func foldBlocks(to, from []atomic.Uint64, factor, words int) {
	for i := range to {
		word := uint64(0)
		first := i/words*words*factor + i%words
		for j := range factor {
			word |= from[first+j*words].Load()
		}
		to[i].Store(word)
	}
}

// foldBits merges every factor neighbouring bits of from into one bit of to. to must be empty.
func foldBits(to, from []atomic.Uint64, factor uint64) {
	if factor == 2 {
		for i := range to {
			word := evenBits(from[2*i].Load())
			if 2*i+1 < len(from) {
				word |= evenBits(from[2*i+1].Load()) << 32
			}
			to[i].Store(word)
		}
		return
	}
	word, j, end := uint64(0), uint64(0), factor // bit j of to is the OR of factor bits of from, before bit end
	for i := uint64(0); i < uint64(len(from)); i++ {
		for w := from[i].Load(); w != 0; {
			for at := i*64 + uint64(bits.TrailingZeros64(w)); at >= end; end += factor {
				if j++; j%64 == 0 {
					to[j/64-1].Store(word)
					word = 0
				}
			}
			word |= 1 << (j % 64)
			if end >= i*64+64 {
				i = end/64 - 1 // the words up to end are merged
				break
			}
			w &= ^uint64(0) << (end % 64) // the bits up to end are merged
		}
	}
	to[j/64].Store(word)
}

// evenBits returns a number of 32 bits. Its bit i is set if bit 2i or bit 2i+1 of w is set.
func evenBits(w uint64) uint64 {
	w = (w | w>>1) & 0x5555555555555555
	w = (w | w>>1) & 0x3333333333333333
	w = (w | w>>2) & 0x0f0f0f0f0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0x00000000ffffffff
}
