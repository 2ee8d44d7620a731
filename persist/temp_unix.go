//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/seed3447c163/bloom/internal/regular"
	"golang.org/x/sys/unix"
)

var (
	errAgain = errors.New("another process was faster, try again")
	errTaken = errors.New("the temporary name is taken")
)

// makeTemp makes the file path.unfinished and locks it until it is closed. The name is always the
// same, so killed processes leave at most one such file, and the lock shows whether its owner is
// alive. If another user's file or no regular file has that name, makeTemp uses a random name.
func makeTemp(path string) (osFile, error) {
	const enough = 10_000 // other processes can be faster many times
	for range enough {
		f, err := tryCreate(path, path+unfinished)
		if err == errTaken {
			f, err = tryCreate(path, randomName(path))
		}
		if err != errAgain {
			return f, err
		}
	}
	return osFile{}, fmt.Errorf("%q has changed hands %d times", path+unfinished, enough)
}

// tryCreate decides everything under the lock: which file is replaced, and that the temporary file
// still has its name.
func tryCreate(path, name string) (t osFile, err error) {
	if t.old, err = openOld(path); err != nil {
		return t, err
	}
	made := false
	defer func() {
		if err != nil {
			if made {
				_ = os.Remove(name)
			}
			t.close()
		}
	}()
	t.File, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(t.old))
	if made = err == nil; errors.Is(err, fs.ErrExist) {
		t.File, err = openLeftover(name)
	}
	if err == nil {
		err = lock(t.File)
	}
	if err != nil {
		return t, err
	}
	named, err := names(name, t.File)
	switch {
	case err != nil:
		return t, err
	case !named: // its last owner has renamed or removed it
		made = false
		return t, errAgain
	case !made: // a leftover can have other permissions, a second name or a reader
		return t, cmp.Or(os.Remove(name), errAgain)
	}
	// The old file may have changed before this process had the lock.
	if err = t.checkReplaces(path); errors.Is(err, errOther) {
		err = errAgain
	}
	return t, err
}

// openLeftover opens the file of a process that is writing or was killed. It returns errTaken for a
// file that this user's processes have not made.
func openLeftover(name string) (*os.File, error) {
	f, info, err := regular.Open(name, os.O_RDONLY|regular.NoFollow, errTaken)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errAgain
	case errors.Is(err, errTaken), errors.Is(err, fs.ErrPermission):
		return nil, errTaken
	case err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid():
		f.Close()
		return nil, errTaken
	}
	return f, err
}

// lock waits until no other process holds the file's lock.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

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
