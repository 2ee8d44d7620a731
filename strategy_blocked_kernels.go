package bloom

import (
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
)

// How the kernels of Blocked are written
//
// Each is a straight line. It loads a key's words, sets the key's bits in copies of
// them, and compares: a word that differs from its copy lacks a bit. To set a bit in
// a register is one instruction, where to test it takes three. Nowhere does a kernel stop
// at a bit that is not set: the line is there already, and among keys of which some are in the
// filter and some are not, a branch would be mispredicted half the time. The branches on k are the same
// for every key. BenchmarkContains, BenchmarkAdd.
//
// There are no bounds checks: blockAt returns a place at least blockBytes before the end,
// and what selects a word within the block is a shifted-out part of y that cannot exceed
// its group.

// blockAt returns where a key's block begins. h1·blocks/2^64 is less than blocks, the
// number of whole blocks in the filter: its scheme makes m a multiple of blockBits,
// and FilterOver and Read make the words as many as m says.
func (f *BloomFilter) blockAt(h1 uint64) unsafe.Pointer {
	return unsafe.Add(f.bits.start(), probe.Reduce(h1, f.units)*(blockBits/8))
}

// wordAt is the i-th word from p on.
func wordAt(p unsafe.Pointer, i uint64) *uint64 { return (*uint64)(unsafe.Add(p, i*8)) }

// flipLast sets the bits that a word lacks, the last ones of a key, and reports whether
// this call has set one of them.
func flipLast(w *uint64, lack uint64) bool { return atomic.OrUint64(w, lack)&lack != lack }

// Blocked1: all bits in one word.

func blocked1Contains(f *BloomFilter, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	w := atomic.LoadUint64(wordAt(f.blockAt(h1), y>>61))
	k := f.k
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
			if k > 5 {
				m = blocked1More(m, y, int(k))
			}
		}
	}
	return m == w
}

func blocked1Add(f *BloomFilter, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a := wordAt(f.blockAt(h1), y>>61)
	w := atomic.LoadUint64(a)
	k := f.k
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
			if k > 5 {
				m = blocked1More(m, y, int(k))
			}
		}
	}
	lack := m ^ w
	return lack != 0 && flipLast(a, lack)
}

// blocked1More sets the bits from the sixth on.
func blocked1More(m, y uint64, k int) uint64 {
	for i := 5; i < k; i++ {
		r := y
		if i >= 8 {
			r = probe.Next(y, i/8)
		}
		m |= probe.Bit(r >> (i % 8 * 6))
	}
	return m
}

// Blocked2: k is even.

func blocked2Contains(f *BloomFilter, h1, h2 uint64) bool {
	y, p := h2^probe.Xor, f.blockAt(h1)
	w0, w1 := atomic.LoadUint64(wordAt(p, y>>62)), atomic.LoadUint64(wordAt(p, 4+y>>60&3))
	m0, m1 := probe.Set2(w0, w1, y, y>>6)
	if k := f.k; k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
			if k > 6 {
				m0, m1 = probe.More2(m0, m1, y, int(k))
			}
		}
	}
	return (m0^w0)|(m1^w1) == 0
}

func blocked2Add(f *BloomFilter, h1, h2 uint64) bool {
	y, p := h2^probe.Xor, f.blockAt(h1)
	a0, a1 := wordAt(p, y>>62), wordAt(p, 4+y>>60&3)
	w0, w1 := atomic.LoadUint64(a0), atomic.LoadUint64(a1)
	m0, m1 := probe.Set2(w0, w1, y, y>>6)
	if k := f.k; k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
			if k > 6 {
				m0, m1 = probe.More2(m0, m1, y, int(k))
			}
		}
	}
	return flipTwo(a0, a1, m0^w0, m1^w1)
}

// flipTwo is the second pass over two words: the last one that lacks a bit is flipped last.
func flipTwo(a0, a1 *uint64, lack0, lack1 uint64) bool {
	if lack1 == 0 {
		return lack0 != 0 && flipLast(a0, lack0)
	}
	atomic.OrUint64(a0, lack0)
	return flipLast(a1, lack1)
}

// Blocked4: k is a multiple of 4.

func blocked4Words(p unsafe.Pointer, y uint64) (a0, a1, a2, a3 *uint64) {
	return wordAt(p, y>>63), wordAt(p, 2+y>>62&1), wordAt(p, 4+y>>61&1), wordAt(p, 6+y>>60&1)
}

func blocked4Contains(f *BloomFilter, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a0, a1, a2, a3 := blocked4Words(f.blockAt(h1), y)
	w0, w1, w2, w3 := atomic.LoadUint64(a0), atomic.LoadUint64(a1), atomic.LoadUint64(a2), atomic.LoadUint64(a3)
	m0, m1, m2, m3 := probe.Set4(w0, w1, w2, w3, y)
	if k := f.k; k > 4 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
		if k > 8 {
			m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
			if k > 12 {
				m0, m1, m2, m3 = probe.More4(m0, m1, m2, m3, y, int(k))
			}
		}
	}
	return (m0^w0)|(m1^w1)|(m2^w2)|(m3^w3) == 0
}

func blocked4Add(f *BloomFilter, h1, h2 uint64) bool {
	y := h2 ^ probe.Xor
	a0, a1, a2, a3 := blocked4Words(f.blockAt(h1), y)
	w0, w1, w2, w3 := atomic.LoadUint64(a0), atomic.LoadUint64(a1), atomic.LoadUint64(a2), atomic.LoadUint64(a3)
	m0, m1, m2, m3 := probe.Set4(w0, w1, w2, w3, y)
	if k := f.k; k > 4 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
		if k > 8 {
			m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
			if k > 12 {
				m0, m1, m2, m3 = probe.More4(m0, m1, m2, m3, y, int(k))
			}
		}
	}
	return flipFour(a0, a1, a2, a3, m0^w0, m1^w1, m2^w2, m3^w3)
}

// flipFour is the second pass over four words: the last one that lacks a bit is flipped last.
// The others are set whether they lack or not.
func flipFour(a0, a1, a2, a3 *uint64, lack0, lack1, lack2, lack3 uint64) bool {
	switch {
	case lack3 != 0:
	case lack2 != 0:
		a2, a3, lack2, lack3 = a3, a2, lack3, lack2
	case lack1 != 0:
		a1, a3, lack1, lack3 = a3, a1, lack3, lack1
	case lack0 != 0:
		a0, a3, lack0, lack3 = a3, a0, lack3, lack0
	default:
		return false
	}
	atomic.OrUint64(a0, lack0)
	atomic.OrUint64(a1, lack1)
	atomic.OrUint64(a2, lack2)
	return flipLast(a3, lack3)
}

// Blocked8: all words of the block, and k a multiple of 8.

func blocked8Contains(f *BloomFilter, h1, h2 uint64) bool {
	y, k := h2^probe.Xor, int(f.k)
	b := (*block)(f.blockAt(h1))
	lack := uint64(0)
	for t, r := 0, y; ; r = probe.Next(y, t) {
		lack |= probe.Bit(r)&^b[0].Load() | probe.Bit(r>>6)&^b[1].Load() | probe.Bit(r>>12)&^b[2].Load() | probe.Bit(r>>18)&^b[3].Load() |
			probe.Bit(r>>24)&^b[4].Load() | probe.Bit(r>>30)&^b[5].Load() | probe.Bit(r>>36)&^b[6].Load() | probe.Bit(r>>42)&^b[7].Load()
		if k -= 8; k == 0 {
			return lack == 0
		}
		t++
	}
}

func blocked8Add(f *BloomFilter, h1, h2 uint64) bool {
	y, k := h2^probe.Xor, int(f.k)
	b := (*block)(f.blockAt(h1))
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
		if mask[j]&^b[j].Load() != 0 {
			last = j
		}
	}
	if last < 0 {
		return false
	}
	for j := range mask {
		if j != last {
			b[j].Or(mask[j])
		}
	}
	return b[last&7].Or(mask[last&7])&mask[last&7] != mask[last&7]
}
