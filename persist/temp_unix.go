//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/seed3447c163/bloom/internal/regular"
	"golang.org/x/sys/unix"
)

// lock waits for the lock: an empty file that only its owner keeps under this name. unlock removes it.
// The temporary file itself cannot be the lock, because rename gives its name to the old file.
func lock(name string) (unlock func(), err error) {
	const enough = 10_000 // other processes can be faster many times
	for range enough {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			var info fs.FileInfo
			f, info, err = regular.Open(name, os.O_RDWR|regular.NoFollow, errTaken)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue // its owner has removed it
			case err != nil:
				return nil, errTaken
			case info.Size() > 0 || !isOurs(info):
				f.Close()
				return nil, errTaken
			}
		} else if err != nil {
			return nil, err
		}
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		}
		named := false
		if err == nil {
			named, err = names(name, f) // its last owner has removed it otherwise
		}
		unlock := func() {
			_ = os.Remove(name)
			_ = f.Close()
		}
		switch {
		case err != nil:
			unlock()
			return nil, os.NewSyscallError("flock", err)
		case named:
			return unlock, nil
		}
		f.Close()
	}
	return nil, errTaken
}

func createNew(name string, old *os.File) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
}

// isOurs reports whether this user's processes have made a file.
func isOurs(info fs.FileInfo) bool { return int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid() }

// names reports whether path names this very file.
func names(path string, f *os.File) (bool, error) {
	want, err := f.Stat()
	if err != nil {
		return false, err
	}
	got, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(want, got), err
}

// rename gives the file the name path.
func (f osFile) rename(path string) error {
	if f.old == nil {
		return f.moveNew(path)
	}
	err := rename(f.Name(), path, swapNames)
	if errors.Is(err, fs.ErrNotExist) {
		return f.moveNew(path) // the old file is gone
	}
	if err != nil {
		return f.checkAndRename(path)
	}
	// The file that had the name now has ours.
	if same, err := names(f.Name(), f.old); err == nil && same {
		_ = os.Remove(f.Name()) // or the next create removes it
		return nil
	}
	return f.swapBack(path)
}

// swapBack returns a name that was taken from another program's file. If a third file has got the
// name since, it keeps the name: swapping goes on until the file that comes back is the one that was
// put there.
func (f osFile) swapBack(path string) error {
	put, err := f.Stat()
	for err == nil {
		var theirs, back fs.FileInfo
		if theirs, err = os.Lstat(f.Name()); err != nil {
			break
		}
		if err = rename(f.Name(), path, swapNames); errors.Is(err, fs.ErrNotExist) {
			return cmp.Or(f.moveNew(path), errOther)
		}
		if err == nil {
			back, err = os.Lstat(f.Name())
		}
		if err == nil && os.SameFile(back, put) {
			return errOther
		}
		put = theirs
	}
	return err
}

// moveNew gives the file a name that no file has. The error wraps fs.ErrExist if one has.
func (f osFile) moveNew(path string) error {
	err := rename(f.Name(), path, toNewName)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err = os.Link(f.Name(), path); err == nil {
		_ = os.Remove(f.Name()) // or the next create removes it
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.checkAndRename(path)
}

// checkAndRename is for file systems that can do neither in one step.
func (f osFile) checkAndRename(path string) error {
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// takeOwner gives f the owner and the group of the old file.
func takeOwner(f *os.File, now, old fs.FileInfo) error {
	got, want := now.Sys().(*syscall.Stat_t), old.Sys().(*syscall.Stat_t)
	if got.Uid == want.Uid && got.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
