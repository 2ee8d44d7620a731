package bloom

import (
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
)

// The kernels of SplitBlock in Go. Those in assembly, in internal/splitvec, do the same with
// vectors in place of words; tests hold them to these.

// splitBlock returns where a key's block begins.
func (f *BloomFilter) splitBlock(h1 uint64) unsafe.Pointer {
	return unsafe.Add(f.bits.start(), probe.SplitBlock(h1, f.units)*(splitBits/8))
}

func splitContains(f *BloomFilter, h1 uint64) bool {
	p := f.splitBlock(h1)
	m0, m1, m2, m3 := probe.SplitMasks(h1)
	lack := m0&^atomic.LoadUint64(wordAt(p, 0)) | m1&^atomic.LoadUint64(wordAt(p, 1)) |
		m2&^atomic.LoadUint64(wordAt(p, 2)) | m3&^atomic.LoadUint64(wordAt(p, 3))
	return lack == 0
}

func splitAdd(f *BloomFilter, h1 uint64) bool {
	p := f.splitBlock(h1)
	m0, m1, m2, m3 := probe.SplitMasks(h1)
	a0, a1, a2, a3 := wordAt(p, 0), wordAt(p, 1), wordAt(p, 2), wordAt(p, 3)
	return flipFour(a0, a1, a2, a3,
		m0&^atomic.LoadUint64(a0), m1&^atomic.LoadUint64(a1), m2&^atomic.LoadUint64(a2), m3&^atomic.LoadUint64(a3))
}
