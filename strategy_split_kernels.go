package bloom

import (
	"sync/atomic"
	"unsafe"
)

// The kernels of SplitBlock in Go. Those in assembly, in strategy_split_amd64.s, do the
// same with vectors in place of words; tests hold them to these.

// splitBlock returns where a key's block begins.
func (f *BloomFilter) splitBlock(h1 uint64) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(f.bits)), splitSelect(h1, f.units)*(splitBits/8))
}

// splitMasks returns a key's bits in the four words of its block.
func splitMasks(h1 uint64) (m0, m1, m2, m3 uint64) {
	x := uint32(h1)
	m0 = bit(uint64(x*splitSalt0>>27)) | bit(uint64(x*splitSalt1>>27|32))
	m1 = bit(uint64(x*splitSalt2>>27)) | bit(uint64(x*splitSalt3>>27|32))
	m2 = bit(uint64(x*splitSalt4>>27)) | bit(uint64(x*splitSalt5>>27|32))
	m3 = bit(uint64(x*splitSalt6>>27)) | bit(uint64(x*splitSalt7>>27|32))
	return m0, m1, m2, m3
}

func splitContainsGo(f *BloomFilter, h1 uint64) bool {
	p := f.splitBlock(h1)
	m0, m1, m2, m3 := splitMasks(h1)
	lack := m0&^atomic.LoadUint64(wordAt(p, 0)) | m1&^atomic.LoadUint64(wordAt(p, 1)) |
		m2&^atomic.LoadUint64(wordAt(p, 2)) | m3&^atomic.LoadUint64(wordAt(p, 3))
	return lack == 0
}

func splitAddGo(f *BloomFilter, h1 uint64) bool {
	p := f.splitBlock(h1)
	m0, m1, m2, m3 := splitMasks(h1)
	a0, a1, a2, a3 := wordAt(p, 0), wordAt(p, 1), wordAt(p, 2), wordAt(p, 3)
	return flipFour(a0, a1, a2, a3,
		m0&^atomic.LoadUint64(a0), m1&^atomic.LoadUint64(a1), m2&^atomic.LoadUint64(a2), m3&^atomic.LoadUint64(a3))
}
