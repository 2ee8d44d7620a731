//go:build !windows

package persist

import (
	"errors"
	"io/fs"
	"os"
)

func createNew(name string, old *os.File) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
}

// rename gives a file another name. Without replace, its old name may stay.
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
	// A file system that has no links. These are two steps.
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
