// Package words makes large arrays of words for atomic operations.
package words

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/hugepage"
	"github.com/seed3447c163/bloom/internal/memory"
)

// New returns n words, all zero, or the error of Check or Try.
func New(n uint64) ([]atomic.Uint64, error) {
	if err := Check(n); err != nil {
		return nil, err
	}
	return Try(n)
}

// Check returns an error if this machine cannot hold n words. It begins with their bytes.
func Check(n uint64) error {
	if n < 1<<20/8 {
		return nil // without the system call
	}
	if limit := memory.Limit(); n >= limit/8 {
		return fmt.Errorf("%d bytes, this machine has at most %d", n*8, limit)
	}
	return nil
}

// Try is Make, with the panic of a make that the runtime finds too long as an error: some
// platforms allow less than their int or their memory would.
func Try(n uint64) (w []atomic.Uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("%d bytes: %v", n*8, r)
		}
	}()
	return Make(n), nil
}

// Make returns n words. Where they are whole lines of 64 bytes, they begin at one, so that
// each block of Blocked is one line and not parts of two: all size classes of the runtime
// that such arrays get are multiples of a line. TestBlocksAreCacheLines.
func Make(n uint64) []atomic.Uint64 {
	w := make([]atomic.Uint64, n)
	hugepage.Advise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n*8))
	return w
}
