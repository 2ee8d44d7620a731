//go:build !unix && !windows

package regularfile

import "os"

// NoFollow is 0 because these systems have no flag against following a symbolic link.
const NoFollow = 0

func open(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) }
