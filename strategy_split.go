package bloom

import (
	"math"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
)

// SplitBlock is the split-block filter of Apache Parquet: a key sets eight bits, one in
// each of the eight 32-bit lanes of a block of 256 bits. On processors with AVX2 all
// eight are made and tested at once: lookups are the fastest of all strategies of this
// package. k is always 8, and m a multiple of 256.
//
// It needs more memory than Blocked, the more the smaller p: 3 % at p = 1 %, 7 % at
// 0.1 %, 17 % at 0.01 %, 66 % at 1e-6. So it pays around 1 %, and down to 0.01 % where
// the filter stays in the cache all the same. New refuses a p below 1e-7, where it
// needs more than three times the bits of DoubleHashing, and above 0.5, where it needs
// more than twice as many.
//
// Block floor((h1 >> 32)·(m/256) / 2^32) is the key's. With x the lower half of h1, bit
// floor(x·s_i mod 2^32 / 2^27) of lane i is, where s_0 to s_7 are 0x47b6137b, 0x44974d91,
// 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31. h2 is not used.
// Lane i is bits 32·i to 32·i+31 of the block. So with xxHash64 as the hash, see
// [NewHash64], and m as a Parquet file says, the filter's bytes are those of the file.
//
// Source: Apache Parquet, "Bloom filter"; Apple 2020, "Split block Bloom filters",
// arXiv:2101.01719.
var SplitBlock = Strategy{&splitBlock}

var splitBlock = definition{id: idSplitBlock, name: "split-block", minP: minSplitP, maxP: maxSplitP, onesAndRate: splitOnesAndRate, index: splitIndex, onlyK: splitK, foldUnit: splitBits, Definition: Definition{
	Unit: splitBits,
	MaxM: maxSplitBlocks * splitBits,
	Rate: func(m uint64, _ int, n uint64) float64 { return rate.SplitBlock(m/splitBits, n) },
	EstimatedN: func(m uint64, _ int, x uint64) float64 { // a key's eight bits are different ones
		return math.Log1p(-float64(x)/float64(m)) / math.Log1p(-splitK/float64(m))
	},
}}

const (
	splitBits  = 256 // bits of a block
	splitWords = splitBits / 64
	splitK     = 8

	// 32 bits of a digest select the block.
	maxSplitBlocks = 1<<32 - 1

	// The p that SplitBlock is sized for. Outside, it takes 3.1 and 2.2 times the
	// classical bound and more.
	minSplitP, maxSplitP = 1e-7, 0.5
)

// splitIndex is SplitBlock as a pure function, for reference.
func splitIndex(h1, _ uint64, i int, m uint64) uint64 {
	return probe.SplitBlock(h1, m/splitBits)*splitBits + probe.SplitBit(h1, i)
}

func splitOnesAndRate(bits bitArray, _ int) (ones uint64, rateNow float64) {
	return rate.OfSplitBlocks(bits)
}
