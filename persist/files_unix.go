//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// createNew makes the file name, which must not be there, to replace old.
func createNew(name string, old *os.File) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
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
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.close()
}

func (osFiles) publish(t tempFile, path string) error {
	f := t.(osFile)
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return errors.Join(os.Remove(f.Name()), f.close())
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
