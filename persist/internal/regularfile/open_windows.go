package regularfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag for Open: if path is a symbolic link, the link itself is opened. It is no regular file, so Open
// returns an error.
const NoFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

func open(path string, flag int) (*os.File, error) {
	access := uint32(windows.GENERIC_READ)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	// FILE_FLAG_BACKUP_SEMANTICS opens a folder, too, so that Check can refuse it.
	attributes := uint32(windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_BACKUP_SEMANTICS)
	if flag&NoFollow != 0 {
		attributes |= windows.FILE_FLAG_OPEN_REPARSE_POINT
	}
	return CreateFile(path, access, nil, windows.OPEN_EXISTING, attributes)
}

// CreateFile is windows.CreateFile for a file that other programs may read, write, rename and replace
// while it is open. os.Open does not let them rename or replace it. Errors are of type *fs.PathError.
func CreateFile(path string, access uint32, security *windows.SecurityAttributes, how, attributes uint32) (*os.File, error) {
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	name, err := windows.UTF16PtrFromString(path)
	if err == nil {
		var h windows.Handle
		if h, err = windows.CreateFile(name, access, share, security, how, attributes, 0); err == nil {
			return os.NewFile(uintptr(h), path), nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: err}
}
