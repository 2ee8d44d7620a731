//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
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

// makeTemp makes the file path.unfinished and locks it until it is closed. The name is always
// the same, so that killed processes leave at most one such file, and the lock shows whether
// its owner is alive. If the name is taken by another user's file, or by no regular file,
// makeTemp uses a name of its own and leaves that file alone.
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

// tryCreate decides everything under the lock: which file is replaced, and that the
// temporary file still has its name.
func tryCreate(path, name string) (t osFile, err error) {
	old, err := openOld(path)
	if err != nil {
		return t, err
	}
	t.old = old
	made := false
	defer func() {
		if err != nil {
			if made {
				_ = os.Remove(name)
			}
			t.close()
		}
	}()
	t.File, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
	made = err == nil
	if errors.Is(err, fs.ErrExist) {
		t.File, err = openLeftover(name)
	}
	if err == nil {
		err = lock(t.File)
	}
	if err != nil {
		return t, err
	}
	// The owner of the lock before may have renamed or removed the file.
	if named, err := names(name, t.File); err != nil {
		return t, err
	} else if !named {
		made = false
		return t, errAgain
	}
	// A leftover is removed, not used: it can have other permissions or a second name, or a
	// reader.
	if !made {
		if err := os.Remove(name); err != nil {
			return t, err
		}
		return t, errAgain
	}
	// The old file may have changed before this process had the lock.
	if err := t.checkReplaces(path); errors.Is(err, fs.ErrExist) {
		return t, errAgain
	} else if err != nil {
		return t, err
	}
	return t, nil
}

// openLeftover opens the file of a process that is writing or was killed. It returns errTaken
// for a file that this user's processes have not made.
func openLeftover(name string) (*os.File, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errAgain // its owner was faster
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return nil, errTaken
	}
	f, _, err := regular.Open(name, os.O_RDONLY|regular.NoFollow, errTaken)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errAgain
	case errors.Is(err, errTaken) || errors.Is(err, fs.ErrPermission):
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

func (osFiles) publish(t tempFile, path string) error {
	f := t.(osFile)
	if err := f.rename(path); err != nil {
		return err
	}
	f.close()
	return nil
}

// rename gives the file the name path.
func (f osFile) rename(path string) error {
	if f.old == nil {
		return moveNew(f.Name(), path)
	}
	err := swapNames(f.Name(), path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return moveNew(f.Name(), path) // the old file is gone
	case err != nil: // this system, or this file system, cannot swap
		if err := f.checkReplaces(path); err != nil {
			return err
		}
		return os.Rename(f.Name(), path)
	}
	// The file that had the name now has ours.
	if same, err := names(f.Name(), f.old); err == nil && same {
		_ = os.Remove(f.Name()) // or the next create removes it
		return nil
	}
	return f.swapBack(path)
}

// swapBack returns a name that was taken from another program's file. If a third file has got the
// name since, that file keeps it, as it would have without us: swapping goes on until the file
// that comes back is the one that was put there.
func (f osFile) swapBack(path string) error {
	put, err := f.Stat()
	for err == nil {
		var theirs, back fs.FileInfo
		if theirs, err = os.Lstat(f.Name()); err != nil {
			break
		}
		if err = swapNames(f.Name(), path); errors.Is(err, fs.ErrNotExist) {
			err = moveNew(f.Name(), path)
			break
		}
		if err == nil {
			back, err = os.Lstat(f.Name())
		}
		if err == nil && os.SameFile(back, put) {
			return errOther
		}
		put = theirs
	}
	return and(errOther, err)
}

// moveNew gives a file a name that no file has, in one step. The error wraps fs.ErrExist if one
// has.
func moveNew(from, to string) error {
	err := renameNew(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Not every file system can rename like that, or has links.
	if err = os.Link(from, to); err == nil {
		_ = os.Remove(from) // or the next create removes it
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := (osFile{}).checkReplaces(to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	err := os.Remove(f.Name()) // before close, while the lock is held
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // another program was faster
	}
	f.close()
	return err
}
