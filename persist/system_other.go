//go:build !darwin && !linux

package persist

import (
	"errors"
	"os"
	"runtime"
)

// reserve takes the space for the first size bytes of a file from the disk. Windows
// does so as soon as the file is made longer.
func reserve(*os.File, int64) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return errors.ErrUnsupported
}

func fillHoles(*os.File, os.FileInfo) error { return nil }

func populate(*os.File, os.FileInfo, []byte) error { return nil }

// These systems cannot rename to a free name, nor exchange two names, in one step.

func renameNew(_, _ string) error { return errors.ErrUnsupported }

func swapNames(_, _ string) error { return errors.ErrUnsupported }
