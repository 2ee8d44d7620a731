//go:build unix

package regularfile

import (
	"os"
	"syscall"
)

// NoFollow makes a symbolic link an error.
const NoFollow = syscall.O_NOFOLLOW

func open(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
}
