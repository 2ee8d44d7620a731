// Package hugepage asks for larger pages of memory.
package hugepage

import (
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

// Advise asks the kernel to back a large array with pages of 2 MiB: with those of
// 4 KiB, nearly every random access to it also misses the processor's cache of
// addresses. It is advice about memory that stays the garbage collector's; a kernel
// that does not take it changes nothing but the speed. BenchmarkContains, n=40000000.
func Advise(b []byte) {
	if len(b) < 8*hugePage {
		return
	}
	skip := -uintptr(unsafe.Pointer(&b[0])) % hugePage
	b = b[skip:]
	_ = syscall.Madvise(b[:len(b)/hugePage*hugePage], syscall.MADV_HUGEPAGE)
}
