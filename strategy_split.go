package bloom

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/seed3447c163/bloom/internal/vector"
)

// SplitBlock is the split-block filter of Apache Parquet: a key sets eight bits, one in each of the eight 32-bit lanes
// of a block of 256 bits. With AVX2 all eight are tested at once. Its lookups are then the fastest of all strategies,
// especially with [RapidHash]. k is always 8, and m a multiple of 256.
//
// It needs more memory than Blocked, especially for small p: 3 % at p = 1 %, 7 % at 0.1 %, 17 % at 0.01 %, 66 % at
// 1e-6. Use it for p near 1 %, and down to 0.01 % if the filter fits in the cache. New refuses p below 1e-7 and above
// 0.5: SplitBlock would need more than three times, or more than twice, the memory of DoubleHashing.
//
// A key has block floor((h1 >> 32)·(m/256) / 2^32). With x the lower half of h1, its bit in lane i is bit floor(x·s_i
// mod 2^32 / 2^27), where s_0 to s_7 are 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b,
// 0x9efc4947, 0x5c6bfb31. h2 is not used. Lane i is bits 32·i to 32·i+31 of the block. With xxHash64 as the hash, see
// [NewHash64], and the m of a Parquet file, the bits are those of the file.
//
// Source: Apache Parquet, "Bloom filter"; Apple 2020, "Split block Bloom filters",
// arXiv:2101.01719.
var SplitBlock = Strategy{&splitBlock}

var splitBlock = split{independent{label{name: "split-block"}}}

type split struct{ independent }

func (*split) limits() limits {
	return limits{
		maxM: maxSplitBlocks * splitBits,
		minK: splitK, maxK: splitK, stepK: splitK, minP: minSplitP, maxP: maxSplitP,
	}
}

func (s *split) size(n uint64, p float64) (uint64, int, error) { return search(s, n, p, false) }
func (*split) bestK(float64) int                               { return splitK }
func (*split) rate(m uint64, _ int, n uint64) float64          { return rate.SplitBlock(m/splitBits, n) }
func (*split) blockBits() uint64                               { return splitBits }
func (*split) wordsPerKey(int) int                             { return splitBits / 64 }
func (*split) kernel(uint64, int, uint64) (*kernel, error)     { return &splitKernel, nil }

func (*split) estimate(m uint64, _ int, x uint64) float64 { // a key's eight bits all differ
	return math.Log1p(-float64(x)/float64(m)) / math.Log1p(-splitK/float64(m))
}

func (*split) measure(bits bitArray, _ uint64, _ int) (uint64, float64) {
	return rate.OfSplitBlocks(bits)
}

const (
	splitBits = 256 // bits of a block
	splitK    = 8

	// 32 bits of a digest select the block.
	maxSplitBlocks = 1<<32 - 1

	// New sizes a SplitBlock filter for p in this range. It takes 3.1 times the classical -n·ln p/(ln 2)² bits at 1e-7,
	// 2.2 times at 0.5, and more beyond.
	minSplitP, maxSplitP = 1e-7, 0.5
)

var splitKernel = kernel{
	add: splitAdd, contains: splitContains, positions: splitPositions, fill: splitFill,
	prefetchFrom: prefetchWords, blockBytes: splitBits / 8, selects: 0xffffffff << 32, layout: vector.Split,
}

// splitPositions computes the positions by the formula of SplitBlock.
func splitPositions(b *kernelArgs, dst []uint64, h1, _ uint64) {
	for i := range dst {
		dst[i] = probe.SplitBlock(h1, b.blocks)*splitBits + probe.SplitBit(h1, i)
	}
}

// splitBlockOf returns the address of a key's block.
func splitBlockOf(b *kernelArgs, h1 uint64) unsafe.Pointer {
	return unsafe.Add(b.bits.start(), probe.SplitBlock(h1, b.blocks)*(splitBits/8))
}

func splitContains(b *kernelArgs, h1, _ uint64) bool {
	p := splitBlockOf(b, h1)
	m0, m1, m2, m3 := probe.SplitMasks(h1)
	return m0&^atomic.LoadUint64(wordAt(p, 0))|m1&^atomic.LoadUint64(wordAt(p, 1))|
		m2&^atomic.LoadUint64(wordAt(p, 2))|m3&^atomic.LoadUint64(wordAt(p, 3)) == 0
}

func splitAdd(b *kernelArgs, h1, _ uint64) bool {
	p := splitBlockOf(b, h1)
	m0, m1, m2, m3 := probe.SplitMasks(h1)
	a0, a1, a2, a3 := wordAt(p, 0), wordAt(p, 1), wordAt(p, 2), wordAt(p, 3)
	return flipFour(a0, a1, a2, a3,
		m0&^atomic.LoadUint64(a0), m1&^atomic.LoadUint64(a1), m2&^atomic.LoadUint64(a2), m3&^atomic.LoadUint64(a3))
}

func splitFill(b *kernelArgs, group []digest) {
	if vector.Has {
		vector.FillSplit(b.vector(), group)
		return
	}
	for i := range group {
		w := (*[splitBits / 64]uint64)(splitBlockOf(b, group[i][0]))
		m0, m1, m2, m3 := probe.SplitMasks(group[i][0])
		w[0], w[1], w[2], w[3] = w[0]|m0, w[1]|m1, w[2]|m2, w[3]|m3
	}
}
