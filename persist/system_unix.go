//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// foreignLink reports whether a link in a sticky folder that all may write to belongs neither to this user nor to the
// folder's owner. Linux does not follow such links either: proc_sys_fs(5), protected_symlinks.
func foreignLink(path string) bool {
	var link, dir unix.Stat_t
	if err := errors.Join(unix.Lstat(path, &link), unix.Stat(folder(path), &dir)); err != nil {
		return true
	}
	return dir.Mode&unix.S_ISVTX != 0 && dir.Mode&0o002 != 0 && link.Uid != uint32(os.Geteuid()) && link.Uid != dir.Uid
}

// takeOwner gives f the owner and the group of the old file if the system permits it, and returns the mode for f. If
// the owner changes, it returns an error unless the group keeps the owner's permissions and the folder lets the old
// owner replace the file.
func takeOwner(f, old *os.File) (fs.FileMode, error) {
	var got, want, dir unix.Stat_t
	err := errors.Join(unix.Fstat(int(f.Fd()), &got), unix.Fstat(int(old.Fd()), &want), unix.Stat(folder(f.Name()), &dir))
	if err != nil {
		return 0, err
	}
	lost := error(unix.EPERM)
	if got.Uid != want.Uid || got.Gid != want.Gid {
		if lost = f.Chown(int(want.Uid), int(want.Gid)); lost != nil {
			_ = f.Chown(-1, int(want.Gid)) // a member of the group may do this
		}
		if err := unix.Fstat(int(f.Fd()), &got); err != nil {
			return 0, err
		}
	}
	// The list may give the group less than the mode does.
	if (got.Uid != want.Uid || got.Gid != want.Gid) && accessList(old) != nil {
		return 0, fmt.Errorf("cannot keep the access list without its owner and group (user %d, group %d): %w", want.Uid, want.Gid, lost)
	}
	mode := fs.FileMode(want.Mode) & fs.ModePerm
	if got.Gid != want.Gid {
		mode = mode&0o700 | mode&(mode>>3)&0o007 // members of the old group are others now
	}
	sticky := dir.Mode&unix.S_ISVTX != 0 // either the caller or the old owner could not replace the file
	if got.Uid != want.Uid && (got.Gid != want.Gid || mode>>6&^(mode>>3) != 0 || sticky) {
		return 0, fmt.Errorf("cannot keep the owner (user %d, group %d, mode %#o): want a group of yours, a mode such as 0660, and no sticky folder: %w",
			want.Uid, want.Gid, want.Mode&0o777, lost)
	}
	return mode, nil
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

// flush writes changes to the disk. On Linux either call suffices. POSIX requires the first, and on macOS only the
// second empties the disk's own cache.
func flush(f *os.File, data []byte) error {
	if err := unix.Msync(data, unix.MS_SYNC); err != nil {
		return os.NewSyscallError("msync", err)
	}
	return f.Sync()
}
