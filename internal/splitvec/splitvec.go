// Package splitvec has the kernels of SplitBlock in assembly, where there are any. They take the
// words, their number of blocks of 32 bytes, which is below 2^32, and the first half of a digest.
// They do what the kernels in Go of package bloom do, which serve all other processors.
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
