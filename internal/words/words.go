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

// Make returns n words. The first word of whole lines begins a line, so that each block
// of Blocked is one cache line and not parts of two: most arrays come so from the
// runtime, but not all of its size classes are multiples of a line. Other arrays have no
// blocks, and stay where they are: room to move them would be a third of a small one.
func Make(n uint64) []atomic.Uint64 {
	const line = 64 / 8
	w := make([]atomic.Uint64, n)
	if skip := toLine(w); skip > 0 && n%line == 0 {
		w = make([]atomic.Uint64, n+line-1)
		w = w[toLine(w):][:n:n]
	}
	hugepage.Advise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n*8))
	return w
}

// toLine returns how many words are before the next line.
func toLine(w []atomic.Uint64) uintptr {
	return -uintptr(unsafe.Pointer(unsafe.SliceData(w))) % 64 / 8
}
