//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import (
	"errors"
	"io/fs"
	"os"
)

// makeTemp locks nothing: these systems have no mapped files, and the last of two Saves stays.
func makeTemp(path string) (osFile, error) {
	old, err := openOld(path)
	if err != nil {
		return osFile{}, err
	}
	f, err := os.OpenFile(randomName(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
	if err != nil && old != nil {
		old.Close()
	}
	return osFile{File: f, old: old}, err
}

func (f osFile) rename(path string) error {
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	_ = f.File.Close()
	return os.Rename(f.Name(), path)
}

func takeOwner(_ *os.File, _, _ fs.FileInfo) error { return nil }

func mapFile(*os.File, int, bool) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return errors.ErrUnsupported }

func flush(*os.File, []byte) error { return errors.ErrUnsupported }
