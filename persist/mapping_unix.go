//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes of a file.
func mapFile(f *os.File, size int, readOnly bool) ([]byte, error) {
	prot := unix.PROT_READ | unix.PROT_WRITE
	if readOnly {
		prot = unix.PROT_READ
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, prot, unix.MAP_SHARED)
	return data, os.NewSyscallError("mmap", err)
}

func unmapFile(data []byte) error { return os.NewSyscallError("munmap", unix.Munmap(data)) }

// flush writes changes to the disk. On Linux either call is enough; POSIX asks for the first, and
// on macOS only the second empties the disk's own cache.
func flush(f *os.File, data []byte) error {
	if err := unix.Msync(data, unix.MS_SYNC); err != nil {
		return os.NewSyscallError("msync", err)
	}
	return f.Sync()
}
