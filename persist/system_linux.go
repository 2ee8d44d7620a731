package persist

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserve takes the space for the first size bytes of a file from the disk. It keeps the bytes
// that are there.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		if err != unix.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// hasHoles reports whether parts of a file have no space on the disk.
func hasHoles(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Blocks*512 < info.Size()
}

// fillHoles takes the space for a file's holes from the disk.
func fillHoles(f *os.File, info os.FileInfo) error {
	if !hasHoles(info) {
		return nil
	}
	if err := reserve(f, info.Size()); err != nil && !notSupported(err) {
		return err
	}
	return nil
}

// populate reads the holes of a mapped tmpfs file. On tmpfs even a read of a hole takes memory,
// and if there is none the system stops the program. Other file systems need nothing.
func populate(f *os.File, info os.FileInfo, data []byte) error {
	var system unix.Statfs_t
	if !hasHoles(info) || unix.Fstatfs(int(f.Fd()), &system) != nil || system.Type != unix.TMPFS_MAGIC {
		return nil
	}
	err := unix.Madvise(data, unix.MADV_POPULATE_READ)
	if errors.Is(err, unix.EFAULT) {
		err = unix.ENOSPC
	}
	if err != nil {
		return fmt.Errorf("a sparse file in memory: %w", os.NewSyscallError("madvise", err))
	}
	return nil
}

// renameNew renames a file to a name that no file has.
func renameNew(from, to string) error { return rename(from, to, unix.RENAME_NOREPLACE) }

// swapNames exchanges the names of two files.
func swapNames(a, b string) error { return rename(a, b, unix.RENAME_EXCHANGE) }

func rename(from, to string, flags uint) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
