//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import (
	"errors"
	"io/fs"
	"os"
)

// lock always fails: these systems have no file locks. So the temporary files of killed programs are not removed.
func lock(*os.File) error { return errors.ErrUnsupported }

func foreignLink(string) bool { return false }

func takeOwner(_, old *os.File) (fs.FileMode, error) {
	info, err := old.Stat()
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}

func mapFile(*os.File, int, bool) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return errors.ErrUnsupported }

func flush(*os.File, []byte) error { return errors.ErrUnsupported }
