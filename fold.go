package bloom

import (
	"fmt"
	"slices"
)

// Folding
//
// DoubleHashing maps a uniform x to the position floor(x·m/2^64). With m/f in place of m
// that is floor(position/f), for every f that divides m: bit j of the smaller filter is
// the OR of f neighbours, bits jf to jf+f-1. Blocked and SplitBlock choose their block so,
// and leave the bits within it where they are: block j is the OR of f neighbouring blocks.

// Fold returns the filter of m/factor bits that would have been, had all keys been added to
// that one: bit for bit, by merging neighbours. It is for who does not know n: make the
// filter large, and shrink it when the keys are in. The filter itself stays as it is. The
// factor must divide m; for [Blocked] and [SplitBlock], the number of blocks.
//
// The result has the same k, hash and P, and as N the number of keys for which it keeps P,
// about N/factor; both are 0 if P is unknown. k was chosen for more bits a key: a filter
// that was made for its N has fewer bits set.
//
// It takes O(m) time, and m/factor bits of memory, m/2 more for a while if the factor is
// even and above 2. It may run while keys are added: the result contains every key whose
// Add had returned before Fold was called, and may contain bits of later ones, which are in
// f alone.
//
// The error wraps [ErrInvalid] if factor is 0 or does not divide, and if the strategy has
// no exact smaller filter: all of this package but these three, and those of one's own
// without a FoldUnit.
func (f *BloomFilter) Fold(factor uint64) (*BloomFilter, error) {
	s := f.scheme.orNone()
	unit, err := s.strategy.foldUnit()
	if err != nil {
		return nil, err
	}
	if factor == 0 || s.params.M/unit%factor != 0 {
		return nil, fmt.Errorf("%w: fold factor %d, want a divisor of %d (m = %d bits in units of %d)", ErrInvalid, factor, s.params.M/unit, s.params.M, unit)
	}
	return f.fold(factor, s.params.P)
}

// FoldTo returns the smallest fold of the filter, see [BloomFilter.Fold], whose rate with
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
// and where Fold's does.
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
	collisions := s.hash.collisions(count)
	if rate+collisions > p {
		return nil, fmt.Errorf("%w: p = %v, want at least %v, which is the filter's rate as it is", ErrInvalid, p, rate+collisions)
	}
	units := s.params.M / unit
	for _, factor := range divisors(units) {
		// The bits decide, but a fold takes long: not where the rate is to be twice p.
		if s.strategy.FalsePositiveRate(s.params.M/factor, s.params.K, count)+collisions > 2*p {
			continue
		}
		small, err := f.fold(factor, p)
		if err != nil {
			return nil, err
		}
		if small.EstimatedFalsePositiveRate()+collisions <= p {
			return small, nil
		}
	}
	return f.fold(1, p) // some key has come meanwhile
}

// divisors returns all divisors of x > 0, the largest first.
func divisors(x uint64) (all []uint64) {
	for d := uint64(1); d <= x/d; d++ {
		if x%d == 0 {
			all = append(all, d)
			if d < x/d {
				all = append(all, x/d)
			}
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// foldUnit returns how many bits are merged as one.
func (s Strategy) foldUnit() (uint64, error) {
	switch unit := s.get().FoldUnit; {
	case s.id() == idDoubleHashing:
		return 1, nil
	case s.groups() > 0:
		return blockBits, nil
	case unit > 0:
		return unit, nil
	}
	return 0, fmt.Errorf("%w: a filter with strategy %q has no exact fold", ErrInvalid, s)
}

// fold is Fold for a factor that divides, and with this P.
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
	if unit == 1 {
		return small.filter(foldBits(f.bits, factor, s.params.M)), nil
	}
	return small.filter(foldBlocks(f.bits, int(factor), int(unit/64))), nil
}

// keysFor returns how many keys a filter with these parameters keeps its P for, which is
// near the guess. A Rate of one's own may never come to P: it is asked up to maxM keys.
func (s *scheme) keysFor(params Params, guess uint64) uint64 {
	return leastFrom(min(max(1, guess), maxM), func(n uint64) bool {
		return n > maxM || !(s.strategy.FalsePositiveRate(params.M, params.K, n)+s.hash.collisions(n) <= params.P)
	}) - 1
}

// foldBlocks returns neighbouring blocks, of so many words, merged.
func foldBlocks(from bitArray, factor, words int) bitArray {
	to := makeWords(uint64(len(from) / factor))
	for i := range to {
		word := uint64(0)
		first := i/words*words*factor + i%words
		for j := range factor {
			word |= from[first+j*words].Load()
		}
		to[i].Store(word)
	}
	return to
}

// foldBits returns neighbouring bits, of m, merged. As often as it is even, the factor is
// taken apart: halves go by whole words. BenchmarkFold.
func foldBits(from bitArray, factor, m uint64) bitArray {
	if factor == 1 {
		to := makeWords(uint64(len(from)))
		to.copyFrom(from)
		return to
	}
	if factor%2 == 0 {
		to := makeWords(wordsFor(m / 2))
		for i := range to {
			word := evenBits(from[2*i].Load())
			if 2*i+1 < len(from) {
				word |= evenBits(from[2*i+1].Load()) << 32
			}
			to[i].Store(word)
		}
		if factor == 2 {
			return to
		}
		return foldBits(to, factor/2, m/2)
	}
	to := makeWords(wordsFor(m / factor))
	for i := range to {
		// A word of the result comes from that many words, and no others.
		words := from[i*int(factor) : min((i+1)*int(factor), len(from))]
		if factor < 64 {
			to[i].Store(words.sample(factor))
			continue
		}
		word := uint64(0)
		for j := uint64(0); j < 64 && (uint64(i)*64+j)*factor < m; j++ {
			word |= words.any(j*factor, factor) << j
		}
		to[i].Store(word)
	}
	return to
}

// sample returns 64 bits, of which bit i is set if one of so many bits is set from bit
// i·count on, for count < 64.
func (b bitArray) sample(count uint64) (bits uint64) {
	to, at := uint64(0), uint64(0)
	for i := range b {
		// Bit j of each is to have what so many bits from there on have.
		word, next := b[i].Load(), uint64(0)
		if i+1 < len(b) {
			next = b[i+1].Load()
		}
		for have := uint64(1); have < count; {
			shift := min(have, count-have)
			word |= word>>shift | next<<(64-shift)
			next |= next >> shift
			have += shift
		}
		for ; at < 64; at += count {
			bits |= word >> at & 1 << to
			to++
		}
		at -= 64
	}
	return bits
}

// evenBits returns 32 bits, of which bit i is bit 2i or bit 2i+1 of w.
func evenBits(w uint64) uint64 {
	w = (w | w>>1) & 0x5555555555555555
	w = (w | w>>1) & 0x3333333333333333
	w = (w | w>>2) & 0x0f0f0f0f0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0x00000000ffffffff
}

// any returns 1 if one of so many bits, from first on, is set.
func (b bitArray) any(first, count uint64) uint64 {
	i, at := first/64, first%64
	word := b[i].Load() >> at
	for have := 64 - at; have < count; have += 64 {
		i++
		if rest := count - have; rest < 64 {
			word |= b[i].Load() << (64 - rest) // its low bits, that is: which they are does not matter
		} else {
			word |= b[i].Load()
		}
	}
	if at+count < 64 {
		word <<= 64 - count
	}
	return (word | -word) >> 63
}
