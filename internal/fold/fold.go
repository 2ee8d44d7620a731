// Package fold merges neighbouring bits or blocks of an array, for the smaller filter that the
// same keys would have made.
//
// A strategy that maps a uniform x to the position floor(x·m) maps it to floor(position/f) of
// m/f bits, for every f that divides m: bit j of the smaller filter is the OR of f neighbours,
// bits jf to jf+f-1. One that chooses a block so, and leaves the bits within it where they are,
// has as block j the OR of f neighbouring blocks.
package fold

import (
	"slices"
	"sync/atomic"
)

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

// Blocks merges as many neighbouring blocks, of so many words each, as factor says.
func Blocks(to, from []atomic.Uint64, factor, words int) {
	for i := range to {
		word := uint64(0)
		first := i/words*words*factor + i%words
		for j := range factor {
			word |= from[first+j*words].Load()
		}
		to[i].Store(word)
	}
}

// Bits merges as many neighbouring bits as factor says, of m in all. A factor of 2 goes by whole words.
func Bits(to, from []atomic.Uint64, factor, m uint64) {
	if factor == 2 {
		halve(to, from)
		return
	}
	for i := range to {
		// A word of the result comes from that many words, and no others.
		first := uint64(i) * factor
		words := from[first:min(first+factor, uint64(len(from)))]
		if factor < 64 {
			to[i].Store(sample(words, factor))
			continue
		}
		word := uint64(0)
		for j := uint64(0); j < 64 && (uint64(i)*64+j)*factor < m; j++ {
			word |= anyOf(words, j*factor, factor) << j
		}
		to[i].Store(word)
	}
}

// halve merges pairs of bits.
func halve(to, from []atomic.Uint64) {
	for i := range to {
		word := evenBits(from[2*i].Load())
		if 2*i+1 < len(from) {
			word |= evenBits(from[2*i+1].Load()) << 32
		}
		to[i].Store(word)
	}
}

// sample returns 64 bits, of which bit i is set if one of so many bits is set from bit
// i·count on, for count < 64.
func sample(b []atomic.Uint64, count uint64) (bits uint64) {
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

// anyOf returns 1 if one of so many bits, from first on, is set.
func anyOf(b []atomic.Uint64, first, count uint64) uint64 {
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
