package memory

import (
	"sync/atomic"
	"unsafe"
)

// BytesOf views a string as bytes without a copy. The result must not be written to.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// BytesOfWords returns the memory of w as bytes. No other goroutine may use w meanwhile.
func BytesOfWords(w []atomic.Uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}
