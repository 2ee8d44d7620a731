package redisfilter

import (
	"encoding/binary"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A word is what one key has in one word of 64 bits.
type word struct {
	index uint64
	mask  uint64
}

// appendWords appends the words of a key's positions, each once, in ascending order.
func appendWords(dst []word, positions []uint64) []word {
	first := len(dst)
next:
	for _, pos := range positions {
		index, mask := pos/64, uint64(1)<<(pos%64)
		i := len(dst)
		for i > first && dst[i-1].index >= index {
			i--
			if dst[i].index == index {
				dst[i].mask |= mask
				continue next
			}
		}
		dst = append(dst, word{})
		copy(dst[i+1:], dst[i:])
		dst[i] = word{index, mask}
	}
	return dst
}

// maxSpan is how many words a script reads for a key: those of one block.
const maxSpan = 8

// scriptWords returns in how many words a scheme puts the bits of each key, if these are
// one or two that are close to each other, and 0 otherwise. byWords reports whether a lookup
// is shorter by words than by bits.
//
// It is so for all keys or for none with the strategies of package bloom. Those of others
// are tried out; that it was so for some keys is not relied on later.
func scriptWords(s bloom.Scheme) (words int, byWords bool) {
	const sample = 64
	all, most, span := 0, 0, uint64(0)
	var positions []uint64
	var buf []word
	for i := range sample {
		positions = s.AppendPositions(positions[:0], fmt.Append(nil, "sample ", i))
		buf = appendWords(buf[:0], positions)
		all += len(buf)
		most = max(most, len(buf))
		span = max(span, buf[len(buf)-1].index-buf[0].index+1)
	}
	byWords = 2*all <= sample*s.Params().K
	if byWords && span <= maxSpan && most <= 2 && all == most*sample {
		return most, true
	}
	return 0, byWords
}

// appendPacked writes what the scripts read: for each key, the first and last byte of the span
// of its words in the value, as decimal numbers with their length before, because a
// number would cost the script a conversion each; with two words, the distance of the second
// word from the first, plus 1; and a mask of 8 bytes for each word.
//
// If the words of a key are not as many as the script was made for, or too far apart,
// ok is false.
func appendPacked(dst []byte, words []word, scriptWords int) (_ []byte, ok bool) {
	first, last := words[0].index, words[len(words)-1].index
	if len(words) != scriptWords || last-first >= maxSpan {
		return dst, false
	}
	dst = send.AppendDecimal(dst, headerBytes+first*8)
	dst = send.AppendDecimal(dst, headerBytes+last*8+7)
	if scriptWords == 2 {
		dst = append(dst, byte((last-first)*8+1))
	}
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w.mask)
	}
	return dst, true
}
