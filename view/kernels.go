package view

import (
	"encoding/binary"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/vector"
)

// The kernels of views work on bytes at any address. The atomic loads of BloomFilter would fault on some processors if
// the bytes are not aligned.

// ContainsDigest is [bloom.BloomFilter.ContainsDigest]. All keys must have been hashed with the
// same function.
func (v View) ContainsDigest(h1, h2 uint64) bool {
	if v.meta>>8&0xff == double { // kernels in assembly are not faster
		return doubleInBytes(v.bits, v.m(), int(v.meta&0xff), h1, h2^probe.Xor)
	}
	b := vector.Bits{Words: v.bits, K: int(v.meta & 0xff)}
	if row := v.kernels(vector.Digest, &b); row != nil {
		return vector.DoDigest(&b, h1, h2, row.One[vector.Look])
	}
	return v.containsDigest(h1, h2)
}

// kernels returns the kernels in assembly for the view's strategy and the hash, or nil if there are none. It sets
// b.Blocks, which the kernels read.
func (v View) kernels(hash vector.Input, b *vector.Bits) *vector.Row {
	switch v.meta >> 8 & 0xff {
	case double:
		b.Blocks = v.m()
		return vector.For(vector.Double, hash, b, false)
	case split:
		b.Blocks = uint64(v.bytes) / splitBytes
		return vector.For(vector.Split, hash, b, false)
	case blocked:
		b.Blocks = uint64(v.bytes) / blockBytes
		return vector.For(vector.Blocked(b.K), hash, b, false)
	}
	return nil
}

// m returns the number of bits.
func (v View) m() uint64 {
	if v.scheme != nil {
		return v.scheme.Params().M // the bytes may have more bits
	}
	return uint64(v.bytes) * 8
}

// containsDigest is ContainsDigest in Go.
func (v View) containsDigest(h1, h2 uint64) bool {
	m, k := v.m(), int(v.meta&0xff)
	b, y := v.bits, h2^probe.Xor
	switch v.meta >> 8 & 0xff {
	case split:
		p := splitInBytes(b, m, h1)
		m0, m1, m2, m3 := probe.SplitMasks(h1)
		return m0&^p.word(0)|m1&^p.word(1)|m2&^p.word(2)|m3&^p.word(3) == 0
	case other:
		var room [maxK]uint64
		return v.have(v.scheme.AppendDigestPositions(room[:0], h1, h2))
	case 0:
		panic(zeroView)
	}
	p, z := blockInBytes(b, m, h1), probe.Words(k)
	switch {
	case z == 2 && k <= 6:
		w0, w1 := p.word(y>>62), p.word(4+y>>60&3)
		m0, m1 := masks2(w0, w1, y, k)
		return (m0^w0)|(m1^w1) == 0
	case z == 4 && k <= 12:
		w0, w1, w2, w3 := p.word(y>>63), p.word(2+y>>62&1), p.word(4+y>>61&1), p.word(6+y>>60&1)
		m0, m1, m2, m3 := masks4(w0, w1, w2, w3, y, k)
		return (m0^w0)|(m1^w1)|(m2^w2)|(m3^w3) == 0
	case z == 8:
		unset := uint64(0)
		for t, r := 1, y; ; t++ {
			unset |= probe.Bit(r)&^p.word(0) | probe.Bit(r>>6)&^p.word(1) | probe.Bit(r>>12)&^p.word(2) | probe.Bit(r>>18)&^p.word(3) |
				probe.Bit(r>>24)&^p.word(4) | probe.Bit(r>>30)&^p.word(5) | probe.Bit(r>>36)&^p.word(6) | probe.Bit(r>>42)&^p.word(7)
			if k -= 8; k <= 0 {
				return unset == 0
			}
			r = probe.Next(y, t)
		}
	}
	unset := uint64(0)
	for i := range k {
		word, mask := probeInBlock(y, i, z)
		unset |= mask &^ p.word(word)
	}
	return unset == 0
}

// doubleInBytes is the lookup of DoubleHashing for x = h1 and y = h2 xor probe.Xor. It reads two bits at a time: the
// first two suffice for three of four absent keys. The kernels in assembly read all bits and are not faster. See
// BenchmarkView.
func doubleInBytes(p unsafe.Pointer, m uint64, k int, x, y uint64) bool {
	for ; k >= 2; k -= 2 {
		next := x*probe.Mul + y
		if bitInBytes(p, probe.Reduce(x, m))&bitInBytes(p, probe.Reduce(next, m)) == 0 {
			return false
		}
		x = next*probe.Mul + y
	}
	return k == 0 || bitInBytes(p, probe.Reduce(x, m)) != 0
}

// have reports whether all bits at these positions are set.
func (v View) have(positions []uint64) bool {
	for _, pos := range positions {
		if bitInBytes(v.bits, pos) == 0 {
			return false
		}
	}
	return true
}

// There are no bounds checks below and in the functions that return a block: probe.Reduce and probe.SplitBlock return
// less than their second argument, the bytes hold m bits, and m is a multiple of the block size.

func bitInBytes(p unsafe.Pointer, pos uint64) byte {
	return *(*byte)(unsafe.Add(p, pos/8)) >> (pos % 8) & 1
}

const (
	blockBytes = 64
	splitBytes = 32

	maxSplitBlocks = 1<<32 - 1 // 32 bits of a digest select the block
)

// A *block points to the first word of a block. The block has 8 words with Blocked, 4 with SplitBlock.
type block [8]byte

func blockInBytes(b unsafe.Pointer, m, h1 uint64) *block {
	return (*block)(unsafe.Add(b, probe.Reduce(h1, m/(blockBytes*8))*blockBytes))
}

// splitInBytes returns a key's block of SplitBlock.
func splitInBytes(b unsafe.Pointer, m, h1 uint64) *block {
	return (*block)(unsafe.Add(b, probe.SplitBlock(h1, m/(splitBytes*8))*splitBytes))
}

func (p *block) bytes(i uint64) []byte { return (*block)(unsafe.Add(unsafe.Pointer(p), i*8))[:] }

// word returns word i of the block, and or sets the bits of mask in it.
func (p *block) word(i uint64) uint64 { return binary.LittleEndian.Uint64(p.bytes(i)) }

func (p *block) or(i, mask uint64) { binary.LittleEndian.PutUint64(p.bytes(i), p.word(i)|mask) }

// probeInBlock returns which word of the block has a key's bit i, and the bit as a mask. The key has bits in z words.
func probeInBlock(y uint64, i, z int) (word, mask uint64) {
	at, r := probe.Blocked(y, i, z)
	return uint64(at), probe.Bit(r)
}

// masks2 returns copies of the two words that have bits of a key, with these bits set.
func masks2(w0, w1, y uint64, k int) (m0, m1 uint64) {
	m0, m1 = probe.Set2(w0, w1, y, y>>6)
	if k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
		}
	}
	return m0, m1
}

// masks4 returns copies of the four words that have bits of a key, with these bits set.
func masks4(w0, w1, w2, w3, y uint64, k int) (m0, m1, m2, m3 uint64) {
	m0, m1, m2, m3 = probe.Set4(w0, w1, w2, w3, y)
	m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
	if k > 8 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
	}
	return m0, m1, m2, m3
}
