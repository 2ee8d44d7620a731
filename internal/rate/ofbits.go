package rate

import (
	"math/bits"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/floats"
)

// splitWords is the words of a block of [SplitBlock].
const splitWords = 4

// OfBlocks counts the bits that are set in words that are blocks of [Blocked], and returns the
// rate that follows from them. A key takes a block at random,
// in each of z groups a word, and in the word g bits; the rate of a word
// with x bits is (x/64)^g, that of a group the mean of its words', that of a block
// the product of its groups'.
func OfBlocks(b []atomic.Uint64, k, z int) (ones uint64, rate float64) {
	g := k / z
	var word [65]float64
	for x := range word {
		word[x] = floats.Pow(float64(x)/64, g)
	}
	perGroup := blockWords / z
	sum := 0.0
	for i := 0; i < len(b); i += blockWords {
		rate := 1.0
		for j := range z {
			group := 0.0
			for w := range perGroup {
				x := bits.OnesCount64(b[i+j*perGroup+w].Load())
				ones += uint64(x)
				group += word[x]
			}
			rate *= group / float64(perGroup)
		}
		sum += rate
	}
	return ones, sum / float64(len(b)/blockWords)
}

// OfSplitBlocks is OfBlocks for blocks of [SplitBlock]:
// that of a block is the product of its lanes' shares of set bits.
func OfSplitBlocks(b []atomic.Uint64) (ones uint64, rate float64) {
	sum := 0.0
	for i := 0; i < len(b); i += splitWords {
		rate := 1.0
		for j := range splitWords {
			w := b[i+j].Load()
			low, high := bits.OnesCount32(uint32(w)), bits.OnesCount32(uint32(w>>32))
			ones += uint64(low + high)
			rate *= float64(low) / 32 * float64(high) / 32
		}
		sum += rate
	}
	return ones, sum / float64(len(b)/splitWords)
}
