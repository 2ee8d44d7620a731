package memory

import (
	"fmt"
	"sync/atomic"
)

// NewWords returns n words, all zero, or the error of CheckWords or TryWords.
func NewWords(n uint64) ([]atomic.Uint64, error) {
	if err := CheckWords(n); err != nil {
		return nil, err
	}
	return TryWords(n)
}

// CheckWords returns an error if this machine cannot hold n words. The error begins with the size of the words in
// bytes.
func CheckWords(n uint64) error {
	if n < 1<<20/8 {
		return nil // without the system call
	}
	if limit := Limit(); n >= limit/8 {
		return fmt.Errorf("%d bytes, this process can have at most %d", n*8, limit)
	}
	return nil
}

// TryWords is MakeWords with an error instead of a panic for a length that the runtime refuses. On some platforms that
// is less than the machine's memory and the largest int.
func TryWords(n uint64) (w []atomic.Uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("%d bytes: %v", n*8, r)
		}
	}()
	return MakeWords(n), nil
}

// MakeWords returns n words on the heap, all zero. It does not advise the system to use huge pages, because the advice
// would outlast the filter. An array of whole cache lines begins at a line, because the runtime's size classes for such
// arrays are multiples of 64 bytes. So each block of Blocked is one line. See TestBlocksAreCacheLines.
func MakeWords(n uint64) []atomic.Uint64 { return make([]atomic.Uint64, n) }
