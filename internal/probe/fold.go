package probe

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// How bits are folded
//
// Let f divide m. A strategy that maps a uniform x, 0 <= x < 1, to the position floor(x·m) maps it to floor(position/f)
// in a filter of m/f bits: bit j of the smaller filter is the OR of the bits j·f to j·f+f-1. If a strategy selects
// blocks in this way, and the bits within a block do not depend on m, block j of the smaller filter is the OR of the
// blocks j·f to j·f+f-1.

// Primes returns the prime factors of x > 0, the largest first.
func Primes(x uint64) (all []uint64) {
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

// FoldBlocks merges factor neighbouring blocks of the given number of words.
func FoldBlocks(to, from []atomic.Uint64, factor, words int) {
	for i := range to {
		word := uint64(0)
		first := i/words*words*factor + i%words
		for j := range factor {
			word |= from[first+j*words].Load()
		}
		to[i].Store(word)
	}
}

// FoldBits merges factor neighbouring bits. to must be empty.
func FoldBits(to, from []atomic.Uint64, factor uint64) {
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

// evenBits returns a number of 32 bits, of which bit i is set if bit 2i or bit 2i+1 of w is.
func evenBits(w uint64) uint64 {
	w = (w | w>>1) & 0x5555555555555555
	w = (w | w>>1) & 0x3333333333333333
	w = (w | w>>2) & 0x0f0f0f0f0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0x00000000ffffffff
}
