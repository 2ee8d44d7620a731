package compare

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

// Keys are a chunk of keys, as bytes or as digests. A 64-bit digest is the first half.
type Keys struct {
	Bytes   [][]byte
	Digests [][2]uint64
	Hashes  []uint64 // the first halves
	Answers []bool   // room for one answer per key

	text    []byte
	lengths []int
	hashed  bool
}

const prefix = "https://www.example.com/articles/2026/compare-filters-by-keys-of-many-lengths/page-" // of long keys

// NewKeys returns memory for up to most keys of the lengths. Without hashed it has no digests.
func NewKeys(most int, hashed bool, lengths ...int) *Keys {
	return &Keys{
		Bytes: make([][]byte, most), Digests: make([][2]uint64, most), Hashes: make([]uint64, most), Answers: make([]bool, most),
		text: make([]byte, most*slices.Max(lengths)), lengths: lengths, hashed: hashed,
	}
}

// Fill makes count keys of the numbers that number returns. Different numbers make different keys.
func (k *Keys) Fill(count int, number func(i uint64) uint64) {
	k.Bytes, k.Digests, k.Hashes, k.Answers = k.Bytes[:count], k.Digests[:count], k.Hashes[:count], k.Answers[:count]
	text := k.text
	for i := range k.Bytes {
		x := Mix(number(uint64(i)))
		length := k.lengths[x>>32%uint64(len(k.lengths))]
		key := text[:length:length]
		text = text[length:]
		copy(key, prefix[:length-8])
		binary.LittleEndian.PutUint64(key[length-8:], x)
		if k.Bytes[i] = key; k.hashed {
			h := xxh3.Hash128(key)
			k.Digests[i], k.Hashes[i] = [2]uint64{h.Hi, h.Lo}, h.Hi
		}
	}
}

// Mix is a bijection of 64-bit words whose output looks random: the finalizer of SplitMix64
// (Steele, Lea and Flood 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
