package redisfilter

import (
	"encoding/binary"
	"strconv"

	"github.com/seed3447c163/bloom"
)

// A block has the bits of a key. They are in one block of 512 bits of the filter: index is its number, and masks has
// the key's bits in each of its words.
type block struct {
	index uint64
	masks [blockBytes / 8]uint64
}

func blockOf(positions []uint64) block {
	b := block{index: positions[0] / 512}
	for _, pos := range positions {
		b.masks[pos%512/64] |= 1 << (pos % 64)
	}
	return b
}

// appendTo appends the bits of a key in the form that add.lua reads: the offsets of the first and the last byte, then
// for each word, its offset from the first word and its mask. at is the offset of the layer. words is the number of
// masks that are not 0; if it is less than wanted, appendTo adds empty masks.
func (b *block) appendTo(dst []byte, at uint64, words, wanted int) []byte {
	var used [len(b.masks)]bool
	first, last := -1, 0
	for i, mask := range b.masks {
		if used[i] = mask != 0; !used[i] && words < wanted {
			used[i] = true
			words++
		}
		if used[i] {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	at += b.index * blockBytes
	dst = appendDecimal(appendDecimal(dst, at+uint64(first)*8), at+uint64(last)*8+7)
	for i, mask := range b.masks {
		if used[i] {
			dst = append(dst, byte(8*(i-first)))
			dst = binary.LittleEndian.AppendUint64(dst, mask)
		}
	}
	return dst
}

// appendDecimal appends the number of decimal digits of n in one byte, and the digits.
func appendDecimal(dst []byte, n uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(append(dst, 0), n, 10)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}

// blockOf returns the bits of key i in a layer. b.positions has the positions by the scheme first, so blockOf computes
// positions only by other schemes.
func (b *batch) blockOf(i int, l layer, first *bloom.Scheme) block {
	if l.scheme == first {
		return blockOf(b.positionsOf(i))
	}
	b.room = l.scheme.AppendPositions(b.room[:0], b.keys[i])
	return blockOf(b.room)
}

// pack encodes b.keys[from:to] for add.lua, each key with its bits in all layers. first is the scheme of b.positions.
// pack also returns the largest number of words per key in a layer.
func (b *batch) pack(first *bloom.Scheme, layers []layer, from, to int) (data []byte, words int) {
	for _, l := range layers {
		words = max(words, l.words)
	}
	dst := make([]byte, 0, (to-from)*(2+len(layers)*(22+9*words)))
	for i := from; i < to; i++ {
		begin := len(dst)
		dst = append(dst, 0, 0)
		for _, l := range layers {
			block := b.blockOf(i, l, first)
			dst = block.appendTo(dst, l.at, l.words, words)
		}
		binary.LittleEndian.PutUint16(dst[begin:], uint16(len(dst)-begin-2))
	}
	return dst, words
}
