package bloom

import (
	"syscall"
	"unsafe"
)

// physicalMemory returns the bytes of memory that the machine has. Asking for
// more is answered by the runtime with a fatal error or by the kernel with a
// killed process, neither of which a caller could handle.
func physicalMemory() (total uint64, ok bool) {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0, false
	}
	return uint64(info.Totalram) * uint64(info.Unit), true
}

const hugePage = 2 << 20

// adviseHugePages asks the kernel to back a large array with pages of 2 MiB: with
// those of 4 KiB, nearly every random access to it also misses the processor's
// cache of addresses. It is advice about memory that stays the garbage collector's;
// a kernel that does not take it changes nothing but the speed.
// BenchmarkContains, n=40000000.
func adviseHugePages(b bitArray) {
	if len(b)*8 < 8*hugePage {
		return
	}
	start := uintptr(unsafe.Pointer(&b[0]))
	skip := -start % hugePage
	size := (uintptr(len(b))*8 - skip) / hugePage * hugePage
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&b[skip/8])), size), syscall.MADV_HUGEPAGE)
}
