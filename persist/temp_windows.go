package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// shareAll lets other programs read, write, rename and replace a file that this one has open.
// os.Open does not let them rename or replace it.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

func createFile(path string, access, share uint32, security *windows.SecurityAttributes, how, attributes uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, access, share, security, how, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// createNew makes a new file to replace old. It has old's access list from the beginning.
func createNew(name string, old *os.File) (*os.File, error) {
	var security *windows.SecurityAttributes
	if old != nil {
		list, err := windows.GetSecurityInfo(windows.Handle(old.Fd()), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
		switch {
		case err == nil:
			security = &windows.SecurityAttributes{SecurityDescriptor: list}
			security.Length = uint32(unsafe.Sizeof(*security))
		case !notImplemented(err): // some file systems have no access lists
			return nil, fmt.Errorf("cannot keep the access list: %w", os.NewSyscallError("GetSecurityInfo", err))
		}
	}
	return createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, shareAll, security, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL)
}

// takeOwner does nothing: createNew has set the access list.
func takeOwner(_ *os.File, _, _ fs.FileInfo) error { return nil }

func isOurs(fs.FileInfo) bool { return true }

// lock waits for the lock: an empty file that no other process can open until it is closed. It ends
// with its process; unlock removes it.
func lock(name string) (unlock func(), err error) {
	const pause = 5 * time.Millisecond
	denied := 0
	for {
		f, err := createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, 0, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT)
		switch {
		case err == nil:
			if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
				f.Close()
				return nil, cmp.Or(err, errTaken)
			}
			return func() {
				remove := [1]byte{1} // FILE_DISPOSITION_INFO
				_ = windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileDispositionInfo, &remove[0], 1)
				_ = f.Close()
			}, nil
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		case errors.Is(err, windows.ERROR_ACCESS_DENIED) && denied < 200: // it is just being removed
			denied++
		default:
			return nil, err
		}
		time.Sleep(pause)
	}
}

// rename replaces a file that other programs are reading, if the system can do that (since Windows
// 10, on NTFS) and they have opened it as regular.Open does.
func (f osFile) rename(path string) error {
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	var err error
	if f.old == nil {
		err = move(f.Name(), path, 0) // never replaces a file
	} else if err = renameOver(f.Name(), path); notImplemented(err) {
		_ = f.old.Close() // or it could not be replaced
		err = move(f.Name(), path, windows.MOVEFILE_REPLACE_EXISTING)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: path, Err: err}
	}
	return nil
}

// notImplemented reports whether a system or a file system lacks an operation.
func notImplemented(err error) bool {
	return slices.ContainsFunc([]error{windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_PARAMETER, windows.ERROR_CALL_NOT_IMPLEMENTED},
		func(e error) bool { return errors.Is(err, e) })
}

// move renames a file and returns when the new name is on the disk.
func move(from, to string, flags uint32) error {
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(old, name, flags|windows.MOVEFILE_WRITE_THROUGH)
}

// renameOver renames a file and returns when the new name is on the disk. Programs that have the
// old file of that name open keep it, as on Unix; MoveFileEx would be refused.
func renameOver(from, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	name, err := windows.UTF16FromString(to)
	if err != nil {
		return err
	}
	// FILE_RENAME_INFO
	type renaming struct {
		flags    uint32
		root     windows.Handle
		length   uint32 // of the name, in bytes, without the zero at its end
		fileName [1]uint16
	}
	buf := make([]uint64, (int(unsafe.Sizeof(renaming{}))+2*len(name)+7)/8)
	r := (*renaming)(unsafe.Pointer(&buf[0]))
	r.flags = windows.FILE_RENAME_REPLACE_IF_EXISTS | windows.FILE_RENAME_POSIX_SEMANTICS
	r.length = uint32(2 * (len(name) - 1))
	copy(unsafe.Slice(&r.fileName[0], len(name)), name)

	// A handle that writes through: the new name is on the disk when the call returns.
	f, err := createFile(from, windows.DELETE|windows.SYNCHRONIZE, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_WRITE_THROUGH|windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return err
	}
	defer f.Close()
	return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileRenameInfoEx, (*byte)(unsafe.Pointer(r)), uint32(8*len(buf)))
}
