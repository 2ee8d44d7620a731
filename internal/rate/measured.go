package rate

import (
	"math/bits"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/rate/floats"
)

const splitWords = 4 // words of a block of SplitBlock

// OfBlocks counts the set bits of blocks of [Blocked], and returns the false-positive rate for them: the mean rate of
// the blocks. The rate of a block is the product of the rates of its z groups. The rate of a group is the mean rate of
// its words. The rate of a word with x set bits is (x/64)^g, because a key has g = k/z bits in it.
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

// OfSplitBlocks is OfBlocks for [SplitBlock]. The rate of a block is the product of the shares of set bits in its lanes
// of 32 bits, plus keys/2^32, the rate at which a new key and a key in the block have the same 32 bits of the digest
// that select the bits.
func OfSplitBlocks(b []atomic.Uint64) (ones uint64, rate float64) {
	var equal [splitWords*64 + 1]float64 // keys/2^32, by the number of set bits of a block
	for x := range equal {
		keys := floats.Log1p(-float64(min(x, splitWords*64-1))/(splitWords*64)) / floats.Log1p(-1.0/32)
		equal[x] = keys * 0x1p-32
	}
	sum := 0.0
	for i := 0; i < len(b); i += splitWords {
		rate, set := 1.0, 0
		for j := range splitWords {
			w := b[i+j].Load()
			low, high := bits.OnesCount32(uint32(w)), bits.OnesCount32(uint32(w>>32))
			set += low + high
			rate *= float64(low) / 32 * float64(high) / 32
		}
		ones += uint64(set)
		sum += min(1, rate+equal[set])
	}
	return ones, sum / float64(len(b)/splitWords)
}
