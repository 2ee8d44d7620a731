package bloom

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/seed3447c163/bloom/internal/vector"
)

// Blocked sets all bits of a key in one block of 512 bits, a cache line. A lookup costs one cache miss; with
// DoubleHashing, up to k. Blocked needs more memory, because some blocks get more keys than others: 7 % at p = 1 %, 10
// % at 0.1 %, 18 % at 0.01 %, 36 % at 1e-6.
//
// k is even. A key's bits are in z of the 8 words of its block, so an add takes z atomic operations:
//
//	k                        z
//	16, 24, 32, …            8
//	8, 12, 20, 28, …         4
//	other multiples of 2     2
//
// m is a multiple of 512. [New] chooses m up to 3 % above the smallest that keeps p, see [NewScheme].
//
// The digest (h1, h2) selects the block floor(h1·(m/512) / 2^64). The rest depends on y = h2 xor 0x9e3779b97f4a7c15.
// The block's 8 words form z groups of 8/z neighbours. The top bits of y select one word of each group, the highest
// bits that of the first group: with z = 2 two bits per group, with z = 4 one, with z = 8 none. Bit i of the key is in
// the word of group i mod z, at bit floor(r_t / 2^(6·(i mod 8))) mod 64, where t = floor(i/8), r_0 = y, and r_t for t >
// 0 is the xor of both halves of the 128-bit product (y xor t·0x9e3779b97f4a7c15) · 0xd1342543de82ef95. So no bit of
// the digest is used twice: h1 selects the block, the top 4 bits of h2 the words, and the low 48 bits of h2 the first 8
// bits.
var Blocked = Strategy{&blockedStrategy}

var blockedStrategy = blocked{independent{label{name: "blocked"}}}

type blocked struct{ independent }

func (*blocked) limits() limits {
	return limits{maxM: math.MaxUint64, minK: 2, maxK: maxK, stepK: 2, minP: minBlockedP, maxP: 1}
}

// minBlockedP is the smallest p for which New sizes a Blocked filter. m is 1.9 times the classical -n·ln p/(ln 2)² at p
// = 1e-9, and 2.8 times at 1e-12.
const minBlockedP = 1e-12

func (*blocked) size(n uint64, p float64) (m uint64, k int, err error) {
	if err := possible(n, p); err != nil {
		return 0, 0, err
	}
	blocks, k := rate.SizeBlocked(n, p)
	if most := uint64((maxM - 1) / blockBits); blocks > most {
		return 0, 0, noSize(&blockedStrategy, most*blockBits, n, p)
	}
	return blocks * blockBits, k, nil
}

func (*blocked) bestK(bitsPerKey float64) int { return rate.BlockedK(bitsPerKey) }

func (s *blocked) rate(m uint64, k int, n uint64) float64 {
	return rate.Blocked(m/blockBits, k, s.wordsPerKey(k), n)
}

func (s *blocked) estimate(m uint64, k int, x uint64) float64 {
	return math.Log1p(-float64(x)/float64(m)) / rate.BlockedZeroLog(m, k, s.wordsPerKey(k))
}

func (s *blocked) measure(bits bitArray, _ uint64, k int) (uint64, float64) {
	return rate.OfBlocks(bits, k, s.wordsPerKey(k))
}

func (*blocked) blockBits() uint64     { return blockBits }
func (*blocked) wordsPerKey(k int) int { return probe.Words(k) }

// kernel returns fast code for each k that New chooses. For other k, it returns code that computes each position.
func (s *blocked) kernel(_ uint64, k int, _ uint64) (*kernel, error) {
	code := kernel{
		add: blockedAdd, contains: blockedContains, positions: blockedPositions, fill: fillPositions(blockedPositions),
		prefetchFrom: prefetchWords, blockBytes: blockBits / 8, selects: math.MaxUint64, layout: vector.Blocked(k),
	}
	switch z := s.wordsPerKey(k); {
	case z == 2 && k <= 6:
		code.add, code.contains, code.fill = blocked2Add, blocked2Contains, blocked2Fill
	case z == 4 && k <= 12:
		code.add, code.contains, code.fill = blocked4Add, blocked4Contains, blocked4Fill
	case z == 8:
		code.add, code.contains, code.fill = blocked8Add, blocked8Contains, blocked8Fill
	}
	return &code, nil
}

// blockedPositions computes the positions by the formula of Blocked.
func blockedPositions(b *kernelArgs, dst []uint64, h1, h2 uint64) {
	block, z := probe.Reduce(h1, b.blocks)*blockBits, probe.Words(b.k)
	for i := range dst {
		word, r := probe.Blocked(h2^probe.Xor, i, z)
		dst[i] = block + uint64(word)*64 + r%64
	}
}

// blockedAdd sets words in the order of the block, like all kernels of Blocked. Suppose it used the order of the
// positions while a kernel in assembly adds the same key. Then each could set the other's last bit, and neither would
// win.
func blockedAdd(b *kernelArgs, h1, h2 uint64) bool {
	y, z := h2^probe.Xor, probe.Words(b.k)
	var mask [blockWords]uint64
	for i := range b.k {
		word, r := probe.Blocked(y, i, z)
		mask[word] |= probe.Bit(r)
	}
	return addMask((*block)(blockOf(b, h1)), &mask)
}

func blockedContains(b *kernelArgs, h1, h2 uint64) bool {
	var all [maxK]uint64
	blockedPositions(b, all[:b.k], h1, h2)
	return containsAll(b.bits, all[:b.k])
}

// How the kernels of Blocked are written
//
// Each kernel loads a key's words, sets the key's bits in copies of them, and compares: a word that differs from its
// copy has an unset bit. Setting a bit in a register takes one instruction, testing it three. No kernel stops at an
// unset bit: the cache line is loaded already, and with hits and misses mixed, a branch would be mispredicted half the
// time. The branches on k are the same for every key. See BenchmarkContains, BenchmarkAdd.
//
// There are no bounds checks: blockOf returns a whole block of the filter, and the bits of y that select a word cannot
// exceed its group.

// blockOf returns the address of a key's block. h1·blocks/2^64 is less than blocks, the number of whole blocks of the
// filter: m is a multiple of blockBits, and FilterOver and Read ensure that there are m bits.
func blockOf(b *kernelArgs, h1 uint64) unsafe.Pointer {
	return unsafe.Add(b.bits.start(), probe.Reduce(h1, b.blocks)*(blockBits/8))
}

// For k = 2, 4 and 6, a key's bits are in two words of its block.

func blocked2Contains(b *kernelArgs, h1, h2 uint64) bool {
	y, p := h2^probe.Xor, blockOf(b, h1)
	w0, w1 := atomic.LoadUint64(wordAt(p, y>>62)), atomic.LoadUint64(wordAt(p, 4+y>>60&3))
	m0, m1 := probe.Set2(w0, w1, y, y>>6)
	if k := b.k; k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
		}
	}
	return (m0^w0)|(m1^w1) == 0
}

func blocked2Add(b *kernelArgs, h1, h2 uint64) bool {
	y, p := h2^probe.Xor, blockOf(b, h1)
	a0, a1 := wordAt(p, y>>62), wordAt(p, 4+y>>60&3)
	w0, w1 := atomic.LoadUint64(a0), atomic.LoadUint64(a1)
	m0, m1 := probe.Set2(w0, w1, y, y>>6)
	if k := b.k; k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
		}
	}
	return flipTwo(a0, a1, m0^w0, m1^w1)
}

// For k = 8 and k = 12, a key's bits are in four words of its block.

func blocked4Words(p unsafe.Pointer, y uint64) (a0, a1, a2, a3 *uint64) {
	return wordAt(p, y>>63), wordAt(p, 2+y>>62&1), wordAt(p, 4+y>>61&1), wordAt(p, 6+y>>60&1)
}

func blocked4Contains(b *kernelArgs, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a0, a1, a2, a3 := blocked4Words(blockOf(b, h1), y)
	w0, w1, w2, w3 := atomic.LoadUint64(a0), atomic.LoadUint64(a1), atomic.LoadUint64(a2), atomic.LoadUint64(a3)
	m0, m1, m2, m3 := probe.Set4(w0, w1, w2, w3, y)
	m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
	if b.k > 8 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
	}
	return (m0^w0)|(m1^w1)|(m2^w2)|(m3^w3) == 0
}

func blocked4Add(b *kernelArgs, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a0, a1, a2, a3 := blocked4Words(blockOf(b, h1), y)
	w0, w1, w2, w3 := atomic.LoadUint64(a0), atomic.LoadUint64(a1), atomic.LoadUint64(a2), atomic.LoadUint64(a3)
	m0, m1, m2, m3 := probe.Set4(w0, w1, w2, w3, y)
	m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
	if b.k > 8 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
	}
	return flipFour(a0, a1, a2, a3, m0^w0, m1^w1, m2^w2, m3^w3)
}

// For k = 16, 24, …, a key's bits are in all eight words of its block.

func blocked8Contains(b *kernelArgs, h1, h2 uint64) bool {
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

func blocked8Add(b *kernelArgs, h1, h2 uint64) bool {
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
	return addMask(w, &mask)
}

// addMask adds a key whose bits in the block w are those of mask. The last word with an unset bit is written last.
func addMask(w *block, mask *[blockWords]uint64) bool {
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
		if j != last && mask[j] != 0 {
			w[j].Or(mask[j])
		}
	}
	return w[last&7].Or(mask[last&7])&mask[last&7] != mask[last&7]
}

func blocked2Fill(b *kernelArgs, group []digest) {
	for i := range group {
		y, p := group[i][1]^probe.Xor, blockOf(b, group[i][0])
		a0, a1 := wordAt(p, y>>62), wordAt(p, 4+y>>60&3)
		m0, m1 := probe.Set2(*a0, *a1, y, y>>6)
		for k := b.k; k > 2; k -= 2 {
			y >>= 12
			m0, m1 = probe.Set2(m0, m1, y, y>>6)
		}
		*a0, *a1 = m0, m1
	}
}

func blocked4Fill(b *kernelArgs, group []digest) {
	for i := range group {
		y := group[i][1] ^ probe.Xor
		a0, a1, a2, a3 := blocked4Words(blockOf(b, group[i][0]), y)
		m0, m1, m2, m3 := probe.Set4(*a0, *a1, *a2, *a3, y)
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
		if b.k > 8 {
			m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
		}
		*a0, *a1, *a2, *a3 = m0, m1, m2, m3
	}
}

func blocked8Fill(b *kernelArgs, group []digest) {
	for i := range group {
		y := group[i][1] ^ probe.Xor
		w := (*[blockWords]uint64)(blockOf(b, group[i][0]))
		for t, r := 0, y; t < b.k/8; r = probe.Next(y, t) {
			for j := range w {
				w[j] |= probe.Bit(r >> (6 * j))
			}
			t++
		}
	}
}
