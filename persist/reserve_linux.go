package persist

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserve takes the space for the first size bytes of a file from the disk and makes
// it as long, if it is shorter. It changes none of the bytes that are there.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		if err != unix.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// fillHoles takes the space for a file's holes from the disk, if it has any.
func fillHoles(f *os.File, info os.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Blocks*512 >= info.Size() {
		return nil
	}
	if err := reserve(f, info.Size()); err != nil && !notSupported(err) {
		return err
	}
	return nil
}
