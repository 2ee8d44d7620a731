// Package splitvec has the kernels of SplitBlock in assembly, where there are any: for words
// and so many blocks of 32 bytes, less than 2^32, and a digest of which only the first half is
// used. They do what the kernels in Go of package bloom do, which are for all others.
package splitvec

import (
	"sync/atomic"
	"unsafe"
)

// For reports whether there are kernels here for these words, to which others may write: that
// takes blocks that are aligned. The words of a filter that New made are; those that somebody
// else provides may begin anywhere.
func For(words []atomic.Uint64) bool {
	return Has && uintptr(unsafe.Pointer(unsafe.SliceData(words)))%32 == 0
}
