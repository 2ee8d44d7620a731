// Package regularfile opens regular files. For other files, such as pipes and folders, it returns an error without
// waiting.
package regularfile

import (
	"cmp"
	"io/fs"
	"os"
)

// Open opens an existing file and returns its information. Errors are of type *fs.PathError. For a file that is not
// regular, Open returns an error that wraps refused, without waiting; os.Open could wait for the other end of a FIFO.
// flag is the flag of os.OpenFile, and may have NoFollow.
//
// On Windows, as on other systems, other programs may replace and remove the file while it is open.
func Open(path string, flag int, refused error) (*os.File, fs.FileInfo, error) {
	f, err := open(path, flag)
	if err != nil {
		// The reason may be the kind of file: a folder cannot be opened for writing, a socket not at all.
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

// Check returns an error that wraps refused unless info describes a regular file.
func Check(path string, info fs.FileInfo, refused error) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: irregular{info.Mode(), refused}}
}

// An irregular is the error for a file that is not regular.
type irregular struct {
	mode    fs.FileMode
	refused error
}

func (e irregular) Error() string {
	what := "a special file"
	switch {
	case e.mode.IsDir():
		what = "a directory"
	case e.mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case e.mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case e.mode&fs.ModeSocket != 0:
		what = "a socket"
	case e.mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return "is " + what + ", want a regular file"
}

func (e irregular) Unwrap() error { return e.refused }
