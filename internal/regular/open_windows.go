package regular

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow opens a symbolic link itself, which is not a regular file.
const NoFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

func open(path string, flag int) (*os.File, error) {
	access := uint32(windows.GENERIC_READ)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE // os.Open has not the last
	attributes := uint32(windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_BACKUP_SEMANTICS)     // a folder, too, to see that it is one
	if flag&NoFollow != 0 {
		attributes |= windows.FILE_FLAG_OPEN_REPARSE_POINT
	}
	name, err := windows.UTF16PtrFromString(path)
	if err == nil {
		var h windows.Handle
		if h, err = windows.CreateFile(name, access, share, nil, windows.OPEN_EXISTING, attributes, 0); err == nil {
			return os.NewFile(uintptr(h), path), nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: err}
}
