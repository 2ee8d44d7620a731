//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// create makes the file path.unfinished and locks it until it is closed. The name is
// always the same, so that processes which are killed while they write leave at
// most one such file behind, and the lock tells whether its owner is alive.
func (osFiles) create(path string) (tempFile, error) {
	name := path + unfinished
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		ours, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// While we waited for the lock, its holder may have renamed or removed it.
		if named, err := os.Lstat(name); err != nil || !os.SameFile(ours, named) {
			f.Close()
			continue
		}
		if ours.Size() == 0 {
			return osFile{f}, nil
		}
		// A leftover. It is removed, not used: it may have other permissions, or a
		// second name, if its owner was killed in publish.
		if err := errors.Join(os.Remove(name), f.Close()); err != nil {
			return nil, err
		}
	}
}

// lock waits until nobody else holds the file's lock.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

func (osFiles) rename(t tempFile, path string) error {
	f := t.(osFile)
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.Close()
}

func (osFiles) publish(t tempFile, path string) error {
	f := t.(osFile)
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return errors.Join(os.Remove(f.Name()), f.Close())
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	return errors.Join(os.Remove(f.Name()), f.Close()) // removed first, while it is ours
}

func (osFiles) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if notSupported(err) {
		err = nil // some network file systems have no such thing
	}
	return errors.Join(err, d.Close())
}
