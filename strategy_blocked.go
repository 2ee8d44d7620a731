package bloom

import (
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
)

// Blocked puts all of a key's bits into one block of 512 bits, which is one cache
// line: a lookup costs one cache miss where DoubleHashing costs k. It needs more
// memory for that, because some blocks get more keys than others: 7 % at
// p = 1 %, 10 % at 0.1 %, 18 % at 0.01 %, 36 % at 1e-6.
//
// Within the block only z of its 8 words are used, and z atomic operations add a
// key. [New] chooses the smallest z of 1, 2, 4 and 8 that needs at most 3 % more
// memory than the best one, and the filter's strategy is then Blocked1, Blocked2,
// Blocked4 or Blocked8. Filters are compatible if that is the same, and their
// m and k; [NewWithParams] wants one of the four, with m a multiple of 512 and k
// a multiple of z.
//
// A digest (h1, h2) selects block floor(h1·(m/512) / 2^64). Within it, all follows
// from y = h2 xor 0x9e3779b97f4a7c15. The block's 8 words form z groups of 8/z;
// the top 4 bits of y select a word in each group, those for the first group first.
// Probe i is for group i mod z. It falls on bit floor(r_t / 2^(6·(i mod 8))) mod 64
// of the word, where t = floor(i/8), r_0 = y, and r_t is the upper xor the lower
// half of the 128-bit product (y xor t·0x9e3779b97f4a7c15) · 0xd1342543de82ef95.
// So no bit of the digest serves twice: h1 selects the block, the top of h2 the
// words, the low 48 bits of h2 the first 8 bits.
var (
	Blocked  = Strategy{&blocked}
	Blocked1 = Strategy{&blocked1}
	Blocked2 = Strategy{&blocked2}
	Blocked4 = Strategy{&blocked4}
	Blocked8 = Strategy{&blocked8}
)

var (
	blocked = definition{id: idBlocked, name: "blocked", minP: minBlockedP, Definition: Definition{
		Unit:       blockBits,
		Rate:       bestBlockedRate,
		EstimatedN: func(uint64, int, uint64) float64 { return math.NaN() },
	}}
	blocked1 = blockedDefinition(idBlocked1, "blocked-1", 1)
	blocked2 = blockedDefinition(idBlocked2, "blocked-2", 2)
	blocked4 = blockedDefinition(idBlocked4, "blocked-4", 4)
	blocked8 = blockedDefinition(idBlocked8, "blocked-8", 8)
)

const (
	blockBits  = 512
	blockWords = blockBits / 64

	// minBlockedP is the smallest p for which Blocked is sized: its memory grows out
	// of all proportion, from 1.9 times the classical bound at 1e-9 to 4 times at 1e-12.
	minBlockedP = 1e-12
)

func blockedDefinition(id strategyID, name string, z int) definition {
	return definition{
		id: id, name: name, minP: minBlockedP,
		onesAndRate: func(bits bitArray, k int) (uint64, float64) { return rate.OfBlocks(bits, k, z) },
		index:       blockedIndex(z), kUnit: z, foldUnit: blockBits,
		Definition: Definition{
			Unit: blockBits,
			Rate: func(m uint64, k int, n uint64) float64 { return rate.Blocked(m/blockBits, k, z, n) },
			EstimatedN: func(m uint64, k int, x uint64) float64 {
				return math.Log1p(-float64(x)/float64(m)) / rate.BlockedZeroLog(m, k, z)
			},
		},
	}
}

// bestBlockedRate is that of the best of the four with this k.
func bestBlockedRate(m uint64, k int, n uint64) float64 {
	best := math.Inf(1)
	for z := 1; z <= 8 && k%z == 0; z *= 2 {
		best = min(best, rate.Blocked(m/blockBits, k, z, n))
	}
	return best
}

// blockedParams returns the blocks, k and the strategy for n keys at rate p: Blocked becomes the one
// with the smallest z that needs little more memory than the best.
func blockedParams(n uint64, p float64, s Strategy) (blocks uint64, k int, resolved Strategy) {
	zs := []int{1, 2, 4, 8}
	if z := s.groups(); z > 0 {
		zs = []int{z}
	}
	blocks, k, z := rate.SizeBlocked(n, p, zs...)
	of := [...]*definition{1: &blocked1, 2: &blocked2, 4: &blocked4, 8: &blocked8}
	return blocks, k, Strategy{of[z]}
}

// groups returns z for the strategies that put z words of a block to use, and 0
// for all others.
func (s Strategy) groups() int { return s.id().groups() }

func (id strategyID) groups() int {
	switch id {
	case idBlocked1, idBlocked2, idBlocked4, idBlocked8:
		return 1 << (id - idBlocked1)
	}
	return 0
}

// blocked reports whether the strategy is Blocked or one of its four.
func (s Strategy) blocked() bool { return s.id() == idBlocked || s.groups() > 0 }

// A block is the cache line that holds all of a key's bits.
type block = [blockWords]atomic.Uint64

// blockedIndex returns the strategy as a pure function, for reference.
func blockedIndex(z int) func(h1, h2 uint64, i int, m uint64) uint64 {
	return func(h1, h2 uint64, i int, m uint64) uint64 {
		word, r := probe.Blocked(h2^probe.Xor, i, z)
		return probe.Reduce(h1, m/blockBits)*blockBits + uint64(word)*64 + r%64
	}
}
