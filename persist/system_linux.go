package persist

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserve allocates disk space for the first size bytes of a file. It does not change the bytes.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		if err != unix.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// fillHoles allocates disk space for the holes that a copied file may have. A read-only file needs that only on tmpfs:
// there, even a read of a hole allocates memory. If no memory is left, the system stops the program.
func fillHoles(f *os.File, info os.FileInfo, data []byte, readOnly bool) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Blocks*512 >= info.Size() {
		return nil
	}
	if !readOnly {
		if err := reserve(f, info.Size()); !notSupported(err) {
			return err
		}
		return nil
	}
	var system unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &system) != nil || system.Type != unix.TMPFS_MAGIC {
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

const listName = "system.posix_acl_access"

// accessList returns the access list of a file, or nil.
func accessList(f *os.File) []byte {
	value := make([]byte, 1<<16) // no attribute is longer
	n, err := unix.Fgetxattr(int(f.Fd()), listName, value)
	if err != nil {
		return nil
	}
	return value[:n]
}

// takeList gives f the access list of the old file, or none. In a file with an access list, the group bits of the mode
// are the list's mask. Without the list, they would be the group's permissions.
func takeList(f, old *os.File) error {
	list := accessList(old)
	if list == nil {
		_ = unix.Fremovexattr(int(f.Fd()), listName) // f may have the folder's default list
		return nil
	}
	return os.NewSyscallError("fsetxattr", unix.Fsetxattr(int(f.Fd()), listName, list, 0))
}

// renameNew renames a file, or returns an error that wraps fs.ErrExist if there is a file of that name.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	return os.NewSyscallError("renameat2", err)
}
