//go:build !windows

package persist

import (
	"errors"
	"io/fs"
	"os"
)

func createNew(name string, old *os.File) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until the file is complete, only its owner can read it
	}
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
}

// rename renames a file. If replace is false, the file may keep its old name, too.
func rename(from, to string, replace bool) error {
	if replace {
		return os.Rename(from, to)
	}
	if err := renameNew(from, to); !notSupported(err) {
		return err
	}
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no links. If another process makes the file between this check and the rename, it is
	// replaced.
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
