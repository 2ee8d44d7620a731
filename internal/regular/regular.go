// Package regular opens regular files and refuses others without waiting.
package regular

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
)

// Open opens an existing file and returns its information. The error for any other than a regular file wraps
// refused and comes at once; os.Open of a FIFO could wait forever for the other end. flag is that of
// os.OpenFile, and may have NoFollow.
//
// On Windows, as on other systems, other programs may replace and remove the file while it is open.
func Open(path string, flag int, refused error) (*os.File, fs.FileInfo, error) {
	f, err := open(path, flag)
	if err != nil {
		// A folder cannot be opened for writing, a socket not at all.
		stat := os.Stat
		if flag&NoFollow != 0 {
			stat = os.Lstat
		}
		if info, unknown := stat(path); unknown == nil {
			err = cmp.Or(Check(path, info, refused), err)
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Check(path, info, refused)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Check returns an error that wraps refused unless info is that of a regular file.
func Check(path string, info fs.FileInfo, refused error) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%w: %q is no regular file but %v", refused, path, info.Mode().Type())
}
