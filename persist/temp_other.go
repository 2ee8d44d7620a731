//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import (
	"errors"
	"io/fs"
	"os"
)

// lock locks nothing: these systems have no mapped files, and the last of two Saves stays.
func lock(string) (unlock func(), err error) { return nil, errTaken }

func createNew(name string, old *os.File) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
}

func isOurs(fs.FileInfo) bool { return false }

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
