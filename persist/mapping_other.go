//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import (
	"errors"
	"os"
)

func mapFile(*os.File, int, bool) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return errors.ErrUnsupported }

func flush(*os.File, []byte) error { return errors.ErrUnsupported }
