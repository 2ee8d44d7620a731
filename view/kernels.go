package view

import (
	"encoding/binary"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/splitvec"
)

// The kernels of views work on bytes at any address. The filter's atomic words would fault on some
// processors if the bytes are not aligned.

// ContainsDigest is [bloom.BloomFilter.ContainsDigest]. All keys must have been hashed with the
// same function.
func (v View) ContainsDigest(h1, h2 uint64) bool {
	m, k, strategy := uint64(v.bytes)*8, int(v.meta&0xff), byte(v.meta>>8)
	b, y := v.bits, h2^probe.Xor
	switch strategy {
	case double:
		if v.scheme != (bloom.Scheme{}) {
			m = v.scheme.Params().M // the words have more bits
		}
		return doubleInBytes(b, m, k, h1, y)
	case split:
		if splitvec.Has {
			return splitvec.Contains(b, m/(splitBytes*8), h1)
		}
		p := splitInBytes(b, m, h1)
		m0, m1, m2, m3 := probe.SplitMasks(h1)
		return m0&^p.word(0)|m1&^p.word(1)|m2&^p.word(2)|m3&^p.word(3) == 0
	case 0:
		panic(zeroView)
	}
	p, z := blockInBytes(b, m, h1), 1<<(strategy-blocked1)
	switch {
	case z == 1 && k <= 8:
		w := p.word(y >> 61)
		m := w
		for ; k > 0; k-- {
			m |= probe.Bit(y)
			y >>= 6
		}
		return m == w
	case z == 2 && k <= 8:
		w0, w1 := p.word(y>>62), p.word(4+y>>60&3)
		m0, m1 := masks2(w0, w1, y, k)
		return (m0^w0)|(m1^w1) == 0
	case z == 4 && k <= 12:
		w0, w1, w2, w3 := p.word(y>>63), p.word(2+y>>62&1), p.word(4+y>>61&1), p.word(6+y>>60&1)
		m0, m1, m2, m3 := masks4(w0, w1, w2, w3, y, k)
		return (m0^w0)|(m1^w1)|(m2^w2)|(m3^w3) == 0
	case z == 8:
		lack := uint64(0)
		for t, r := 1, y; ; t++ {
			lack |= probe.Bit(r)&^p.word(0) | probe.Bit(r>>6)&^p.word(1) | probe.Bit(r>>12)&^p.word(2) | probe.Bit(r>>18)&^p.word(3) |
				probe.Bit(r>>24)&^p.word(4) | probe.Bit(r>>30)&^p.word(5) | probe.Bit(r>>36)&^p.word(6) | probe.Bit(r>>42)&^p.word(7)
			if k -= 8; k <= 0 {
				return lack == 0
			}
			r = probe.Next(y, t)
		}
	}
	lack := uint64(0)
	for i := range k {
		word, mask := probeInBlock(y, i, z)
		lack |= mask &^ p.word(word)
	}
	return lack == 0
}

// doubleInBytes is the lookup of DoubleHashing for y = h2 xor probe.Xor.
func doubleInBytes(p unsafe.Pointer, m uint64, k int, x, y uint64) bool {
	lack := uint64(0)
	for ; k >= 4; k -= 4 {
		x1 := x*probe.Mul + y
		x2 := x1*probe.Mul + y
		x3 := x2*probe.Mul + y
		lack |= lackInBytes(p, probe.Reduce(x, m)) | lackInBytes(p, probe.Reduce(x1, m)) | lackInBytes(p, probe.Reduce(x2, m)) | lackInBytes(p, probe.Reduce(x3, m))
		x = x3*probe.Mul + y
		if k > 8 && lack != 0 {
			return false
		}
	}
	if k&2 != 0 {
		x1 := x*probe.Mul + y
		lack |= lackInBytes(p, probe.Reduce(x, m)) | lackInBytes(p, probe.Reduce(x1, m))
		x = x1*probe.Mul + y
	}
	if k&1 != 0 {
		lack |= lackInBytes(p, probe.Reduce(x, m))
	}
	return lack == 0
}

// There are no bounds checks here and in the functions that return a block: probe.Reduce and
// probe.SplitBlock return less than the number they get, the bytes hold m bits, and m is a multiple
// of the block. If m is no multiple of 64, the last word ends within the trailer.

// lackInBytes returns 0 if the bit is set.
func lackInBytes(p unsafe.Pointer, pos uint64) uint64 {
	w := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, pos/64*8))[:])
	return (w | probe.Bit(pos)) ^ w
}

const (
	blockBytes = 64
	splitBytes = 32

	maxSplitBlocks = 1<<32 - 1 // 32 bits of a digest select one
)

// byteBlock is a block of Blocked, as bytes.
type byteBlock [blockBytes]byte

func blockInBytes(b unsafe.Pointer, m, h1 uint64) *byteBlock {
	return (*byteBlock)(unsafe.Add(b, probe.Reduce(h1, m/(blockBytes*8))*blockBytes))
}

// splitInBytes returns a key's block of SplitBlock.
func splitInBytes(b unsafe.Pointer, m, h1 uint64) *splitBlock {
	return (*splitBlock)(unsafe.Add(b, probe.SplitBlock(h1, m/(splitBytes*8))*splitBytes))
}

// splitBlock is a block of SplitBlock, as bytes.
type splitBlock [splitBytes]byte

func (p *splitBlock) word(i uint64) uint64 { return binary.LittleEndian.Uint64(p[i%4*8:]) }

func (p *splitBlock) or(i, mask uint64) {
	binary.LittleEndian.PutUint64(p[i%4*8:], p.word(i)|mask)
}

// word returns word i < 8.
func (p *byteBlock) word(i uint64) uint64 { return binary.LittleEndian.Uint64(p[i%8*8:]) }

func (p *byteBlock) or(i, mask uint64) {
	binary.LittleEndian.PutUint64(p[i%8*8:], p.word(i)|mask)
}

// probeInBlock returns the word and the bit of probe i, for every z.
func probeInBlock(y uint64, i, z int) (word, mask uint64) {
	at, r := probe.Blocked(y, i, z)
	return uint64(at), probe.Bit(r)
}

// masks2 sets a key's bits in copies of its two words.
func masks2(w0, w1, y uint64, k int) (m0, m1 uint64) {
	m0, m1 = probe.Set2(w0, w1, y, y>>6)
	if k > 2 {
		m0, m1 = probe.Set2(m0, m1, y>>12, y>>18)
		if k > 4 {
			m0, m1 = probe.Set2(m0, m1, y>>24, y>>30)
			if k > 6 {
				m0, m1 = probe.Set2(m0, m1, y>>36, y>>42)
			}
		}
	}
	return m0, m1
}

// masks4 sets a key's bits in copies of its four words.
func masks4(w0, w1, w2, w3, y uint64, k int) (m0, m1, m2, m3 uint64) {
	m0, m1, m2, m3 = probe.Set4(w0, w1, w2, w3, y)
	if k > 4 {
		m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, y>>24)
		if k > 8 {
			m0, m1, m2, m3 = probe.Set4(m0, m1, m2, m3, probe.Next(y, 1))
		}
	}
	return m0, m1, m2, m3
}

// addToBytes sets the bits of keys with these digests.
func addToBytes(bits []byte, k int, strategy byte, digests [][2]uint64) {
	b, m := unsafe.Pointer(unsafe.SliceData(bits)), uint64(len(bits))*8
	z := 1 << (strategy - blocked1)
	for i := range digests {
		h1, y := digests[i][0], digests[i][1]^probe.Xor
		switch {
		case strategy == double:
			x := h1
			for range k {
				pos := probe.Reduce(x, m)
				w := (*[8]byte)(unsafe.Add(b, pos/64*8))[:]
				binary.LittleEndian.PutUint64(w, binary.LittleEndian.Uint64(w)|probe.Bit(pos))
				x = x*probe.Mul + y
			}
		case strategy == blocked1+1 && k <= 8:
			p := blockInBytes(b, m, h1)
			m0, m1 := masks2(0, 0, y, k)
			p.or(y>>62, m0)
			p.or(4+y>>60&3, m1)
		case strategy == blocked1+2 && k <= 12:
			p := blockInBytes(b, m, h1)
			m0, m1, m2, m3 := masks4(0, 0, 0, 0, y, k)
			p.or(y>>63, m0)
			p.or(2+y>>62&1, m1)
			p.or(4+y>>61&1, m2)
			p.or(6+y>>60&1, m3)
		case strategy == split:
			p := splitInBytes(b, m, h1)
			m0, m1, m2, m3 := probe.SplitMasks(h1)
			p.or(0, m0)
			p.or(1, m1)
			p.or(2, m2)
			p.or(3, m3)
		default:
			p := blockInBytes(b, m, h1)
			for i := range k {
				p.or(probeInBlock(y, i, z))
			}
		}
	}
}
