//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import (
	"errors"
	"os"
	"path/filepath"
)

// create makes a file with a name that nobody else has.
func (osFiles) create(path string) (tempFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFiles) rename(t tempFile, path string) error {
	f := t.(osFile)
	return errors.Join(f.Close(), os.Rename(f.Name(), path))
}

func (osFiles) publish(t tempFile, path string) error {
	return errors.ErrUnsupported // for Open, which is so, too
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	f.Close()
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
