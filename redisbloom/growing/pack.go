package growing

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// A hash is the digest of a key, from which each layer has its positions.
type hash struct{ h1, h2 uint64 }

func hashesOf[K []byte | string](f *Filter, keys []K) []hash {
	all := make([]hash, len(keys))
	for i, key := range keys {
		switch key := any(key).(type) {
		case []byte:
			all[i].h1, all[i].h2 = f.hash.Hash(key)
		case string:
			all[i].h1, all[i].h2 = f.hash.HashString(key)
		}
	}
	return all
}

// A place is where a key's bits are in a layer: the masks of the words of a block.
type place struct {
	at    uint64 // where the block begins in the value
	masks [8]uint64
}

// placeIn returns the place of a key. positions is room for some numbers.
func (h hash) placeIn(l layer, positions []uint64) (p place, _ []uint64) {
	positions = l.scheme.AppendPositionsHash(positions[:0], h.h1, h.h2)
	p.at = l.at + positions[0]/512*blockBytes
	for _, pos := range positions {
		p.masks[pos%512/64] |= 1 << (pos % 64)
	}
	return p, positions
}

// pack writes what scriptAdd reads of keys.
func (f *Filter) pack(layers []layer, hashes []hash) []byte {
	dst := make([]byte, 0, len(hashes)*(2+len(layers)*(20+9*f.words)))
	var positions []uint64
	for _, h := range hashes {
		begin := len(dst)
		dst = append(dst, 0, 0)
		for i := len(layers) - 1; i >= 0; i-- {
			var p place
			p, positions = h.placeIn(layers[i], positions)
			dst = p.appendTo(dst, f.words)
		}
		binary.LittleEndian.PutUint16(dst[begin:], uint16(len(dst)-begin-2))
	}
	return dst
}

// appendTo appends so many words of a place. A word of no bits is found, and changes nothing.
func (p place) appendTo(dst []byte, words int) []byte {
	used := uint8(0) // a bit for each word
	for i, mask := range p.masks {
		if mask != 0 {
			used |= 1 << i
		}
	}
	for bits.OnesCount8(used) < words {
		used |= used + 1
	}
	first, last := bits.TrailingZeros8(used), bits.Len8(used)-1
	dst = appendDecimal(dst, p.at+uint64(first)*8)
	dst = appendDecimal(dst, p.at+uint64(last)*8+7)
	for i, mask := range p.masks {
		if used>>i&1 == 1 {
			dst = append(dst, byte(i-first)*8)
			dst = binary.LittleEndian.AppendUint64(dst, mask)
		}
	}
	return dst
}

// appendDecimal appends a number's decimal digits, and before them how many there are.
func appendDecimal(dst []byte, n uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(append(dst, 0), n, 10)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}
