//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock locks a file until it is closed or the process ends. It does not wait.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return errLocked
	}
	return err
}

// takeOwner gives f the owner and the group of the old file.
func takeOwner(f *os.File, now, old fs.FileInfo) error {
	got, want := now.Sys().(*syscall.Stat_t), old.Sys().(*syscall.Stat_t)
	if got.Uid == want.Uid && got.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

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
