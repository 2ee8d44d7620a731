package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is the system's MEMORYSTATUSEX.
type memoryStatus struct {
	length, load         uint32
	totalPhys, availPhys uint64
	_                    [5]uint64 // page file, address space
}

// Physical returns the machine's memory in bytes.
func Physical() (total uint64, ok bool) {
	var status memoryStatus
	status.length = uint32(unsafe.Sizeof(status))
	if globalMemoryStatusEx.Find() != nil {
		return 0, false
	}
	done, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status)))
	return status.totalPhys, done != 0
}
