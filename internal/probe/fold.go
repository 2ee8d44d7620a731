package probe

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// How bits are folded
//
// A strategy that maps a uniform x to the position floor(x·m) maps it to floor(position/f) of
// m/f bits, for every f that divides m: bit j of the smaller filter is the OR of the f
// bits jf to jf+f-1. A strategy that chooses a block so, and leaves the bits within it where they are,
// has as block j the OR of f neighbouring blocks.

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

// FoldBits merges factor neighbouring bits into an empty array.
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
	word, j, end := uint64(0), uint64(0), factor // bit j of the result is the OR of the bits up to end
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

// evenBits returns 32 bits: bit i is set if bit 2i or bit 2i+1 of w is.
func evenBits(w uint64) uint64 {
	w = (w | w>>1) & 0x5555555555555555
	w = (w | w>>1) & 0x3333333333333333
	w = (w | w>>2) & 0x0f0f0f0f0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0x00000000ffffffff
}
