package bloom

import (
	"unsafe"

	"github.com/bits-and-blooms/bitset"
)

// BitSet returns a bit set of m bits over the filter's own words. It is nil for the zero BloomFilter.
//
// A method that changes bits in place, such as ClearAll or InPlaceUnion, changes the filter. A method that gives the
// bit set other words, such as Compact, Shrink, SetBitsetFrom, or Set far beyond m, does not change the filter. A bit
// from m on must not be set: it can be in the filter's last word, and then a file of the filter cannot be read.
//
// The methods of a bit set are not atomic. While other goroutines add keys, a call of such a method is a data race. A
// method that changes bits may undo adds.
func (f *BloomFilter) BitSet() *bitset.BitSet {
	if f.isZero() {
		return nil
	}
	words := f.Filter().Words()
	return bitset.FromWithLength(f.Cap(), unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(words))), len(words)))
}
