package redisfilter

import (
	"encoding/binary"
	"strconv"
)

// A block is the bits of a key in its block of 512: where it is, and a mask per word.
type block struct {
	index uint64
	masks [8]uint64
}

func blockOf(positions []uint64) block {
	b := block{index: positions[0] / 512}
	for _, pos := range positions {
		b.masks[pos%512/64] |= 1 << (pos % 64)
	}
	return b
}

// span returns the first and the last word that have bits of the key.
func (b *block) span() (first, last int) {
	for last = 7; b.masks[last] == 0; last-- {
	}
	for ; b.masks[first] == 0; first++ {
	}
	return first, last
}

// appendTo appends a key as the scripts read it: from and to, and the masks with their distance to word
// first.
func (b *block) appendTo(dst []byte, from, to uint64, first int) []byte {
	dst = appendDecimal(appendDecimal(dst, from), to)
	for i, mask := range b.masks {
		if mask != 0 {
			dst = append(dst, byte(8*(i-first)))
			dst = binary.LittleEndian.AppendUint64(dst, mask)
		}
	}
	return dst
}

// appendDecimal appends a number in decimal digits, with their number before them.
func appendDecimal(dst []byte, n uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(append(dst, 0), n, 10)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}

// bitNumber returns Redis's number of the bit at a position of a layer. Redis numbers the bits of a
// byte from the high end. With the last three bits of a position flipped, the bytes of the value are
// the little-endian words.
func bitNumber(at, pos uint64) uint64 { return at*8 + pos ^ 7 }

// pack writes keys [from, to) of a part for a script, see luaKeys.
func (p *part) pack(f *plan, layers []layer, from, to int) []byte {
	dst := make([]byte, 0, (to-from)*(2+len(layers)*(22+9*max(f.words, f.scheme.Params().K))))
	var room []uint64
	for i := from; i < to; i++ {
		begin := len(dst)
		if f.growth {
			dst = append(dst, 0, 0)
		}
		for n := len(layers) - 1; n >= 0; n-- {
			var positions []uint64
			if positions = p.positionsOf(i); n > 0 {
				room = layers[n].scheme.AppendPositions(room[:0], p.keys[i])
				positions = room
			}
			switch b := blockOf(positions); {
			case f.words == 0:
				if f.growth {
					dst = append(dst, byte(len(positions)))
				}
				for _, pos := range positions {
					dst = appendDecimal(dst, bitNumber(layers[n].at, pos))
				}
			case f.generations > 0:
				record := f.layout.body + b.index*f.layout.record
				dst = b.appendTo(dst, record, record+f.layout.record-1, 0)
			default:
				first, last := b.span()
				at := layers[n].at + b.index*blockBytes
				dst = b.appendTo(dst, at+uint64(first)*8, at+uint64(last)*8+7, first)
			}
		}
		if f.growth {
			binary.LittleEndian.PutUint16(dst[begin:], uint16(len(dst)-begin-2))
		}
	}
	return dst
}
