// Package regular opens files that are files, and does not wait for others.
package regular

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
)

// Open opens a file that is there and returns what is known of it. What is not a regular
// file is refused at once, by an error that wraps refused: to open a FIFO could wait
// forever for somebody who opens its other end. flag is as for os.OpenFile, and may have NoFollow.
//
// On Windows others may replace and remove the file while it is open, as everywhere else.
func Open(path string, flag int, refused error) (*os.File, fs.FileInfo, error) {
	f, err := open(path, flag)
	if err != nil {
		// A folder is not opened for writing, a socket not at all.
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

// Check returns an error that wraps refused if that is not what a regular file says.
func Check(path string, info fs.FileInfo, refused error) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%w: %q is no regular file but %v", refused, path, info.Mode().Type())
}
