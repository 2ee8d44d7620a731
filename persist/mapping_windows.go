package persist

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the first size bytes of a file.
func mapFile(f *os.File, size int, readOnly bool) ([]byte, error) {
	prot, access := uint32(windows.PAGE_READWRITE), uint32(windows.FILE_MAP_WRITE)
	if readOnly {
		prot, access = windows.PAGE_READONLY, windows.FILE_MAP_READ
	}
	section, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, prot, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	addr, err := windows.MapViewOfFile(section, access, 0, 0, uintptr(size))
	err = errors.Join(os.NewSyscallError("MapViewOfFile", err), windows.CloseHandle(section)) // the view keeps it
	if addr == 0 {
		return nil, err
	}
	// The garbage collector does not know the address, so it cannot move.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), size), nil
}

func unmapFile(data []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(uintptr(unsafe.Pointer(&data[0]))))
}

// flush writes changes to the disk: the first call hands them to the file system, the second waits
// for the disk.
func flush(f *os.File, data []byte) error {
	if err := windows.FlushViewOfFile(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data))); err != nil {
		return os.NewSyscallError("FlushViewOfFile", err)
	}
	return f.Sync()
}
