package bloom

import (
	"fmt"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/probe"
)

// Blocked puts all of a key's bits into one block of 512 bits, which is one cache
// line: a lookup costs one cache miss where DoubleHashing costs k. It needs more
// memory for that, because some blocks get more keys than others: 6 % at
// p = 1 %, 10 % at 0.1 %, 17 % at 0.01 %, 35 % at 1e-6.
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
	blocked  = definition{id: idBlocked, name: "blocked", Definition: Definition{Unit: blockBits}}
	blocked1 = definition{id: idBlocked1, name: "blocked-1", Definition: blockedDefinition(1)}
	blocked2 = definition{id: idBlocked2, name: "blocked-2", Definition: blockedDefinition(2)}
	blocked4 = definition{id: idBlocked4, name: "blocked-4", Definition: blockedDefinition(4)}
	blocked8 = definition{id: idBlocked8, name: "blocked-8", Definition: blockedDefinition(8)}
)

const (
	blockBits  = 512
	blockWords = blockBits / 64
)

func blockedDefinition(z int) Definition {
	return Definition{Index: blockedIndex(z), Unit: blockBits, KUnit: z}
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

// blockedOf returns which of its four Blocked has for parameters that ParamsFor computed.
func blockedOf(p Params, h hasher) (Strategy, error) {
	made, s, err := paramsFor(p.N, p.P-h.collisions(p.N), Strategy{&blocked})
	if err != nil || made.M != p.M || made.K != p.K {
		return s, fmt.Errorf("%w: m = %d and k = %d are not what strategy %q has for n = %d and p = %v: want Blocked1, Blocked2, Blocked4 or Blocked8",
			ErrInvalid, p.M, p.K, blocked.name, p.N, p.P)
	}
	return s, nil
}

// A block is the cache line that holds all of a key's bits.
type block = [blockWords]atomic.Uint64

// blockedIndex returns the strategy as a pure function, for reference.
func blockedIndex(z int) func(h1, h2 uint64, i int, m uint64) uint64 {
	return func(h1, h2 uint64, i int, m uint64) uint64 {
		word, r := probe.Blocked(h2^probe.Xor, i, z)
		return probe.Reduce(h1, m/blockBits)*blockBits + uint64(word)*64 + r%64
	}
}
