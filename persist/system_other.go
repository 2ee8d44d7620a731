//go:build !darwin && !linux

package persist

import (
	"errors"
	"os"
	"runtime"
)

// reserve allocates disk space for the first size bytes of a file. Windows does so when the file grows.
func reserve(*os.File, int64) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return errors.ErrUnsupported
}

func fillHoles(*os.File, os.FileInfo, []byte, bool) error { return nil }

func renameNew(_, _ string) error { return errors.ErrUnsupported }

func accessList(*os.File) []byte { return nil }

func takeList(_, _ *os.File) error { return nil }
