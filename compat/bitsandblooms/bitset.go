package bloom

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// A BitSet is a view of a filter's bits, with those methods of bits-and-blooms/bitset that read.
type BitSet struct {
	words []atomic.Uint64
	m     uint
}

// BitSet returns the filter's bits themselves, not a copy. It is nil for the zero BloomFilter.
func (f *BloomFilter) BitSet() *BitSet {
	if f.isZero() {
		return nil
	}
	return &BitSet{words: f.Filter().Words(), m: f.Cap()}
}

// Len returns the number of bits, m.
func (b *BitSet) Len() uint { return b.m }

// Test reports whether bit i is set. It is false for i >= m.
func (b *BitSet) Test(i uint) bool { return i < b.m && b.words[i/64].Load()>>(i%64)&1 != 0 }

// Count returns the number of set bits, in O(m).
func (b *BitSet) Count() uint {
	n := 0
	for i := range b.words {
		n += bits.OnesCount64(b.words[i].Load())
	}
	return uint(n)
}

// Bytes returns the words themselves: bit i is bit i%64 of word i/64. Reading them while keys are added is a data
// race. Changing them can break the filter.
func (b *BitSet) Bytes() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b.words))), len(b.words))
}

// BinaryStorageSize returns the bytes of the bits in a file, with their length.
func (b *BitSet) BinaryStorageSize() int { return 8 + 8*len(b.words) }

// Equal reports whether both have the same bits. A nil BitSet equals only nil.
func (b *BitSet) Equal(c *BitSet) bool {
	if b == nil || c == nil {
		return b == c
	}
	if b.m != c.m {
		return false
	}
	for i := range b.words {
		if b.words[i].Load() != c.words[i].Load() {
			return false
		}
	}
	return true
}

// String describes the bits in one line.
func (b *BitSet) String() string { return fmt.Sprintf("bloom.BitSet(m=%d)", b.m) }
