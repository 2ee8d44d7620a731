// Package words makes large arrays of words for atomic operations.
package words

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/memory"
)

// New returns n words, all zero, or the error of Check or Try.
func New(n uint64) ([]atomic.Uint64, error) {
	if err := Check(n); err != nil {
		return nil, err
	}
	return Try(n)
}

// Check returns an error if this machine cannot hold n words. The error begins with their bytes.
func Check(n uint64) error {
	if n < 1<<20/8 {
		return nil // without the system call
	}
	if limit := memory.Limit(); n >= limit/8 {
		return fmt.Errorf("%d bytes, this machine has at most %d", n*8, limit)
	}
	return nil
}

// Try is Make without a panic for a length that the runtime refuses: some platforms allow less than their
// int or their memory would.
func Try(n uint64) (w []atomic.Uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("%d bytes: %v", n*8, r)
		}
	}()
	return Make(n), nil
}

// Make returns n words. An array of whole cache lines begins at one, because all size classes of the
// runtime that it can have are multiples of 64 bytes. So each block of Blocked is one line.
// TestBlocksAreCacheLines.
func Make(n uint64) []atomic.Uint64 {
	w := make([]atomic.Uint64, n)
	advise(Bytes(w))
	return w
}

// Bytes views words as memory while no other goroutine has them.
func Bytes(w []atomic.Uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}
