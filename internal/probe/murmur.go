package probe

// MurmurStart returns where both halves of Murmur3 x64-128 start for a seed: at 0 for seed 0,
// which is plain Murmur3, otherwise at seed·Xor mod 2^64 with the highest bit set.
//
// Murmur3 xors the key's length into both halves, adds each half to the other, and mixes
// them. One half is nothing but start xor length for keys of 1 to 8 bytes, and for keys of 9
// to 15 bytes whose bytes from the 9th on are 0. Were it 0, the halves would be equal, the
// digest (2x, 3x) of one x, and the bits of a key would follow from its block. It is never
// 0: a start of 0 differs from every length but that of the empty key, and a length is less
// than 2^63. With a start equal to the seed, Blocked had 24 to 35 times its rate for keys as
// long as the seed.
//
// The product keeps starts apart: those of s and s+i differ for 0 < i < 2^63, so that
// SeededHashing has k different hashes. Seeds that differ in the highest bit only are equal.
func MurmurStart(seed uint64) uint64 {
	if seed == 0 {
		return 0
	}
	return seed*Xor | 1<<63
}
