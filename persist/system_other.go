//go:build !darwin && !linux

package persist

import (
	"errors"
	"os"
	"runtime"
)

// reserve takes the space for the first size bytes of a file from the disk. Windows does so when
// the file grows.
func reserve(*os.File, int64) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return errors.ErrUnsupported
}

func fillHoles(*os.File, os.FileInfo, []byte, bool) error { return nil }

// toNewName and swapNames are ways to rename that these systems do not have.
const toNewName, swapNames = 0, 0

func rename(_, _ string, _ int) error { return errors.ErrUnsupported }
