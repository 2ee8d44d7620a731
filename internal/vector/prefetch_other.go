//go:build !amd64 || purego || race

package vector

import (
	"sync/atomic"
	"unsafe"
)

// Go has no prefetch instruction. These loads do not depend on each other, so the processor loads many lines at the
// same time.

func readLines(words unsafe.Pointer, at *[MostPrefetched]uint64, n int) {
	for _, offset := range at[:n] {
		atomic.LoadUint64((*uint64)(unsafe.Add(words, offset)))
	}
}

func writeLines(words unsafe.Pointer, at *[MostPrefetched]uint64, n int) {
	readLines(words, at, n)
}
