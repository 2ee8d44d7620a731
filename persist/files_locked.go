//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed3447c163/bloom/internal/regular"
)

// create makes the file path.unfinished and locks it until it is closed. The name is
// always the same, so that processes which are killed while they write leave at
// most one such file behind, and the lock tells whether its owner is alive.
//
// Every decision holds under the lock: which file has the name path, and that ours
// has its own.
func (osFiles) create(path string) (tempFile, error) {
	const enough = 10_000 // others may be first many times; some file systems never give a file the same identity
	for range enough {
		f, err := tryCreate(path)
		if err != errAgain {
			return f, err
		}
	}
	return nil, fmt.Errorf("%q has changed hands %d times meanwhile", path+unfinished, enough)
}

// errAgain means that another process was in between.
var errAgain = errors.New("try again")

func tryCreate(path string) (_ tempFile, err error) {
	old, err := openOld(path)
	if err != nil {
		return nil, err
	}
	f, made, err := openUnfinished(path+unfinished, old)
	t := osFile{File: f, old: old}
	defer func() {
		switch {
		case err == nil:
		case f != nil:
			t.close()
		case old != nil:
			old.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		if made {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		return nil, err
	}
	// While we waited for the lock, its holder may have renamed or removed it.
	if named, err := hasName(f, f.Name()); err != nil {
		return nil, err
	} else if !named {
		return nil, errAgain
	}
	// A leftover is removed, not used: it may have other permissions, a second name,
	// if its owner was killed in publish, or somebody may have opened it for reading.
	if !made {
		if err := os.Remove(f.Name()); err != nil {
			return nil, err
		}
		return nil, errAgain
	}
	// The file was made for what had the name before we had the lock.
	if err := t.unchanged(path); err != nil {
		if removed := os.Remove(f.Name()); removed != nil {
			err = removed
		}
		return nil, err
	}
	return t, nil
}

// unchanged returns errAgain if path does not name the old file, or no file if there
// was none.
func (f osFile) unchanged(path string) error {
	if f.old != nil {
		named, err := hasName(f.old, path)
		if err == nil && !named {
			err = errAgain
		}
		return err
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return errAgain
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// openUnfinished makes the temporary file or opens the one that is there, which must
// be a file and no link: what a link leads to is somebody else's.
func openUnfinished(name string, old *os.File) (f *os.File, made bool, err error) {
	f, err = createNew(name, old)
	if !errors.Is(err, fs.ErrExist) {
		return f, err == nil, err
	}
	info, err := os.Lstat(name)
	if err == nil {
		err = regular.Check(name, info, fs.ErrExist)
	}
	if err == nil {
		f, _, err = regular.Open(name, os.O_RDWR|regular.NoFollow, fs.ErrExist)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errAgain // its owner was faster
	}
	return f, false, err
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	return errors.Join(os.Remove(f.Name()), f.close()) // removed first, while it is ours
}

// close closes both files, which unlocks the path.
func (f osFile) close() error {
	if f.old != nil {
		_ = f.old.Close() // nothing was written to it
	}
	return f.File.Close()
}
