//go:build unix

package regularfile

import (
	"os"
	"syscall"
)

// NoFollow is a flag for Open: if path is a symbolic link, Open returns an error.
const NoFollow = syscall.O_NOFOLLOW

func open(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
}
