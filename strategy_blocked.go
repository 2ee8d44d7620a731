package bloom

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/prefetch"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
)

// Blocked sets all bits of a key in one block of 512 bits, which is one cache line. A lookup costs
// one cache miss instead of the k of DoubleHashing. It needs more memory, because some blocks get
// more keys than others: 7 % at p = 1 %, 10 % at 0.1 %, 18 % at 0.01 %, 36 % at 1e-6.
//
// Within the block only z of its 8 words are used, and z atomic operations add a key. [New] chooses
// the smallest z of 1, 2, 4 and 8 that needs at most 3 % more memory than the best one, and the
// filter's strategy is then Blocked1, Blocked2, Blocked4 or Blocked8. Filters are compatible if
// they have the same one of the four, the same m and the same k. [NewWithParams] needs one of the
// four, with m a multiple of 512 and k a multiple of z.
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

var blocked = definition{
	name: "blocked", minP: minBlockedP, laws: &chosenLaws,
	members:    []*definition{&blocked1, &blocked2, &blocked4, &blocked8},
	Definition: Definition{Unit: blockBits},
}

var (
	blocked1 = definition{
		name: "blocked-1", block: blockBits, foldUnit: blockBits, kUnit: 1, minP: minBlockedP, laws: &blockedLaws,
		prepare: blockedCode, code: &kernel{
			add: blocked1Add, contains: blocked1Contains,
			positions: func(b *bitset, dst []uint64, h1, h2 uint64) { blockedPositions(b, dst, h1, h2, 1) },
			prefetch:  blockedPrefetch, prefetchFrom: prefetchWords,
		},
		Definition: Definition{Unit: blockBits},
	}
	blocked2 = definition{
		name: "blocked-2", block: blockBits, foldUnit: blockBits, kUnit: 2, minP: minBlockedP, laws: &blockedLaws,
		prepare: blockedCode, code: &kernel{
			add: blocked2Add, contains: blocked2Contains,
			positions: func(b *bitset, dst []uint64, h1, h2 uint64) { blockedPositions(b, dst, h1, h2, 2) },
			prefetch:  blockedPrefetch, prefetchFrom: prefetchWords,
		},
		Definition: Definition{Unit: blockBits},
	}
	blocked4 = definition{
		name: "blocked-4", block: blockBits, foldUnit: blockBits, kUnit: 4, minP: minBlockedP, laws: &blockedLaws,
		prepare: blockedCode, code: &kernel{
			add: blocked4Add, contains: blocked4Contains,
			positions: func(b *bitset, dst []uint64, h1, h2 uint64) { blockedPositions(b, dst, h1, h2, 4) },
			prefetch:  blockedPrefetch, prefetchFrom: prefetchWords,
		},
		Definition: Definition{Unit: blockBits},
	}
	blocked8 = definition{
		name: "blocked-8", block: blockBits, foldUnit: blockBits, kUnit: 8, minP: minBlockedP, laws: &blockedLaws,
		code: &kernel{
			add: blocked8Add, contains: blocked8Contains,
			positions: func(b *bitset, dst []uint64, h1, h2 uint64) { blockedPositions(b, dst, h1, h2, 8) },
			prefetch:  blockedPrefetch, prefetchFrom: prefetchWords,
		},
		Definition: Definition{Unit: blockBits},
	}
)

// minBlockedP is the smallest p for which Blocked is sized: its memory grows out of all
// proportion, from 1.9 times the classical bound at 1e-9 to 4 times at 1e-12.
const minBlockedP = 1e-12

// blockedLaws are those of the four strategies. kUnit is z.
var blockedLaws = laws{
	size: func(d *definition, n uint64, p float64) (blocks uint64, k int, s *definition) {
		blocks, k, _ = rate.SizeBlocked(n, p, d.kUnit)
		return blocks, k, d
	},
	bestK: func(d *definition, bitsPerKey float64) int { return rate.BlockedK(bitsPerKey, d.kUnit) },
	rate: func(d *definition, m uint64, k int, n uint64) float64 {
		return rate.Blocked(m/blockBits, k, d.kUnit, n)
	},
	onesAndRate: func(d *definition, bits bitArray, k int) (uint64, float64) { return rate.OfBlocks(bits, k, d.kUnit) },
	estimatedN: func(d *definition, m uint64, k int, x uint64) float64 {
		return math.Log1p(-float64(x)/float64(m)) / rate.BlockedZeroLog(m, k, d.kUnit)
	},
}

// chosenLaws are those of Blocked itself: it is the best of the four.
var chosenLaws = laws{
	size: func(d *definition, n uint64, p float64) (blocks uint64, k int, s *definition) {
		blocks, k, z := rate.SizeBlocked(n, p, 1, 2, 4, 8)
		return blocks, k, d.members[bits.Len(uint(z))-1]
	},
	rate: func(d *definition, m uint64, k int, n uint64) float64 {
		best := math.Inf(1)
		for z := 1; z <= 8 && k%z == 0; z *= 2 {
			best = min(best, rate.Blocked(m/blockBits, k, z, n))
		}
		return best
	},
	estimatedN: func(*definition, uint64, int, uint64) float64 { return math.NaN() },
}

// blockedCode returns the kernel of Blocked1 and Blocked2 for k up to 8, and of Blocked4 for k
// up to 12. For more, the positions serve.
func blockedCode(d *definition, _ uint64, k int, _ uint64) (*kernel, error) {
	z := d.kUnit
	if k <= max(8, 3*z) {
		return d.code, nil
	}
	code := *d.code
	code.add = func(b *bitset, h1, h2 uint64) bool {
		var all [maxK]uint64
		blockedPositions(b, all[:b.k], h1, h2, z)
		return addAll(b.bits, all[:b.k])
	}
	code.contains = func(b *bitset, h1, h2 uint64) bool {
		var all [maxK]uint64
		blockedPositions(b, all[:b.k], h1, h2, z)
		return containsAll(b.bits, all[:b.k])
	}
	return &code, nil
}

// blockedPositions is the strategy by its formula.
func blockedPositions(b *bitset, dst []uint64, h1, h2 uint64, z int) {
	for i := range dst {
		word, r := probe.Blocked(h2^probe.Xor, i, z)
		dst[i] = probe.Reduce(h1, b.units)*blockBits + uint64(word)*64 + r%64
	}
}

// How the kernels of Blocked are written
//
// Each is a straight line. It loads a key's words, sets the key's bits in copies of them, and
// compares: a word that differs from its copy has an unset bit. Setting a bit in a register
// takes one instruction, testing it three. No kernel stops at an unset bit: the line is
// there already, and among hits and misses a branch would be mispredicted half the time. The
// branches on k are the same for every key. BenchmarkContains, BenchmarkAdd.
//
// There are no bounds checks: blockOf returns a place at least a block before the end, and
// the word within the block is selected by bits of y that cannot exceed its group.

// blockOf returns where a key's block begins. h1·blocks/2^64 is less than blocks, the number
// of whole blocks in the filter: its scheme makes m a multiple of blockBits, and FilterOver
// and Read make as many words as m says.
func blockOf(b *bitset, h1 uint64) unsafe.Pointer {
	return unsafe.Add(b.bits.start(), probe.Reduce(h1, b.units)*(blockBits/8))
}

func blockedPrefetch(b *bitset, group []digest, write bool) {
	var at [prefetch.Most]uint64 // in bytes
	for i := range group {
		at[i%prefetch.Most] = probe.Reduce(group[i][0], b.units) * (blockBits / 8)
	}
	prefetch.Lines(b.bits.start(), &at, len(group), write)
}

// Blocked1: all bits in one word.

func blocked1Contains(b *bitset, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	w := atomic.LoadUint64(wordAt(blockOf(b, h1), y>>61))
	k := b.k
	m := w | probe.Bit(y)
	if k > 1 {
		m |= probe.Bit(y >> 6)
	}
	if k > 2 {
		m |= probe.Bit(y >> 12)
	}
	if k > 3 {
		m |= probe.Bit(y >> 18)
		if k > 4 {
			m |= probe.Bit(y >> 24)
			for i := 5; i < k; i++ {
				m |= probe.Bit(y >> (6 * i))
			}
		}
	}
	return m == w
}

func blocked1Add(b *bitset, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a := wordAt(blockOf(b, h1), y>>61)
	w := atomic.LoadUint64(a)
	k := b.k
	m := w | probe.Bit(y)
	if k > 1 {
		m |= probe.Bit(y >> 6)
	}
	if k > 2 {
		m |= probe.Bit(y >> 12)
	}
	if k > 3 {
		m |= probe.Bit(y >> 18)
		if k > 4 {
			m |= probe.Bit(y >> 24)
			for i := 5; i < k; i++ {
				m |= probe.Bit(y >> (6 * i))
			}
		}
	}
	unset := m ^ w
	return unset != 0 && flipLast(a, unset)
}

// Blocked2: k is 2, 4, 6 or 8.

func blocked2Contains(b *bitset, h1, h2 uint64) bool {
	y, p := h2^probe.Xor, blockOf(b, h1)
	w0, w1 := atomic.LoadUint64(wordAt(p, y>>62)), atomic.LoadUint64(wordAt(p, 4+y>>60&3))
	m0, m1 := probe.Set2(w0, w1, y, y>>6)
	if k := b.k; k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
			if k > 6 {
				m0, m1 = probe.Set2(m0, m1, y>>36, y>>42)
			}
		}
	}
	return (m0^w0)|(m1^w1) == 0
}

func blocked2Add(b *bitset, h1, h2 uint64) bool {
	y, p := h2^probe.Xor, blockOf(b, h1)
	a0, a1 := wordAt(p, y>>62), wordAt(p, 4+y>>60&3)
	w0, w1 := atomic.LoadUint64(a0), atomic.LoadUint64(a1)
	m0, m1 := probe.Set2(w0, w1, y, y>>6)
	if k := b.k; k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
			if k > 6 {
				m0, m1 = probe.Set2(m0, m1, y>>36, y>>42)
			}
		}
	}
	return flipTwo(a0, a1, m0^w0, m1^w1)
}

// Blocked4: k is 4, 8 or 12.

func blocked4Words(p unsafe.Pointer, y uint64) (a0, a1, a2, a3 *uint64) {
	return wordAt(p, y>>63), wordAt(p, 2+y>>62&1), wordAt(p, 4+y>>61&1), wordAt(p, 6+y>>60&1)
}

func blocked4Contains(b *bitset, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a0, a1, a2, a3 := blocked4Words(blockOf(b, h1), y)
	w0, w1, w2, w3 := atomic.LoadUint64(a0), atomic.LoadUint64(a1), atomic.LoadUint64(a2), atomic.LoadUint64(a3)
	m0, m1, m2, m3 := probe.Set4(w0, w1, w2, w3, y)
	if k := b.k; k > 4 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
		if k > 8 {
			m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
		}
	}
	return (m0^w0)|(m1^w1)|(m2^w2)|(m3^w3) == 0
}

func blocked4Add(b *bitset, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a0, a1, a2, a3 := blocked4Words(blockOf(b, h1), y)
	w0, w1, w2, w3 := atomic.LoadUint64(a0), atomic.LoadUint64(a1), atomic.LoadUint64(a2), atomic.LoadUint64(a3)
	m0, m1, m2, m3 := probe.Set4(w0, w1, w2, w3, y)
	if k := b.k; k > 4 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
		if k > 8 {
			m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
		}
	}
	return flipFour(a0, a1, a2, a3, m0^w0, m1^w1, m2^w2, m3^w3)
}

// Blocked8: all words of the block, and k a multiple of 8.

func blocked8Contains(b *bitset, h1, h2 uint64) bool {
	y, k := h2^probe.Xor, b.k
	w := (*block)(blockOf(b, h1))
	unset := uint64(0)
	for t, r := 0, y; ; r = probe.Next(y, t) {
		unset |= probe.Bit(r)&^w[0].Load() | probe.Bit(r>>6)&^w[1].Load() | probe.Bit(r>>12)&^w[2].Load() | probe.Bit(r>>18)&^w[3].Load() |
			probe.Bit(r>>24)&^w[4].Load() | probe.Bit(r>>30)&^w[5].Load() | probe.Bit(r>>36)&^w[6].Load() | probe.Bit(r>>42)&^w[7].Load()
		if k -= 8; k == 0 {
			return unset == 0
		}
		t++
	}
}

func blocked8Add(b *bitset, h1, h2 uint64) bool {
	y, k := h2^probe.Xor, b.k
	w := (*block)(blockOf(b, h1))
	var mask [blockWords]uint64
	for t, r := 0, y; k > 0; k -= 8 {
		for j := range mask {
			mask[j] |= probe.Bit(r >> (6 * j))
		}
		t++
		r = probe.Next(y, t)
	}
	last := -1
	for j := range mask {
		if mask[j]&^w[j].Load() != 0 {
			last = j
		}
	}
	if last < 0 {
		return false
	}
	for j := range mask {
		if j != last {
			w[j].Or(mask[j])
		}
	}
	return w[last&7].Or(mask[last&7])&mask[last&7] != mask[last&7]
}
