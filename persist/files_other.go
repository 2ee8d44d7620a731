//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
)

// create makes a file with a name that nobody else has. It locks nothing: where
// there are no mapped files, the last of two Saves stays.
func (osFiles) create(path string) (tempFile, error) {
	old, err := openOld(path)
	if err != nil {
		return nil, err
	}
	for {
		name := fmt.Sprintf("%s.%016x%s", path, rand.Uint64(), unfinished)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
		if err == nil {
			return osFile{File: f, old: old}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			if old != nil {
				old.Close()
			}
			return nil, err
		}
	}
}

func (f osFile) close() error {
	if f.old != nil {
		_ = f.old.Close() // nothing was written to it
	}
	return f.File.Close()
}

func (osFiles) rename(t tempFile, path string) error {
	f := t.(osFile)
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (osFiles) publish(t tempFile, path string) error {
	return errors.ErrUnsupported // for Open, which is so, too
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	if err := f.close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Remove(f.Name())
}

func (osFiles) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if notSupported(err) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
