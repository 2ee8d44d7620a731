package probe

import "math/bits"

// BlockWords is the number of words of a block. In this file, as in the documentation of bloom.Blocked, y is h2 xor
// Xor, and z is the number of words that have bits of a key.
const BlockWords = 8

// Words returns z, the number of words with bits of a key, for filters with k bits per key.
func Words(k int) int {
	switch {
	case k%8 == 0 && k > 8:
		return 8
	case k%4 == 0 && k > 4:
		return 4
	}
	return 2
}

// Next returns r_t for t > 0, see bloom.Blocked. Each r_t selects eight more bits of a key.
func Next(y uint64, t int) uint64 {
	hi, lo := bits.Mul64(y^uint64(t)*Xor, Mul)
	return hi ^ lo
}

// Blocked returns the word of a key's bit i in the block, and a number whose low 6 bits select the bit in the word.
// Kernels compute the same faster.
func Blocked(y uint64, i, z int) (word int, r uint64) {
	group, r := i%z, y
	if t := i / 8; t > 0 {
		r = Next(y, t)
	}
	return group*BlockWords/z + inGroup(y, group, z), r >> (i % 8 * 6)
}

// inGroup returns which of the 8/z words of a group has bits of the key.
func inGroup(y uint64, group, z int) int {
	switch z {
	case 2:
		return int(y >> (62 - 2*group) & 3)
	case 4:
		return int(y >> (63 - group) & 1)
	}
	return 0
}

// Set2 and Set4 return the words with one more bit set in each. The low 6 bits of a and b, and 6 bits of r for each
// word, select the bits. Both functions inline; a test checks that.

func Set2(w0, w1, a, b uint64) (m0, m1 uint64) { return w0 | Bit(a), w1 | Bit(b) }

func Set4(w0, w1, w2, w3, r uint64) (m0, m1, m2, m3 uint64) {
	return w0 | Bit(r), w1 | Bit(r>>6), w2 | Bit(r>>12), w3 | Bit(r>>18)
}
