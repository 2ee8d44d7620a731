package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// noFollow is a flag for openNow: a symbolic link is opened itself, and then is no
// regular file.
const noFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

// shareAll lets others read, write, rename and replace a file that we have open.
// os.Open does not let them do the last two.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// openNow is os.OpenFile for a file that is there and that may be replaced while we
// have it open.
func openNow(path string, flag int) (*os.File, error) {
	access := uint32(windows.GENERIC_READ)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	attributes := uint32(windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_BACKUP_SEMANTICS) // a folder, too: it is refused by its mode
	if flag&noFollow != 0 {
		attributes |= windows.FILE_FLAG_OPEN_REPARSE_POINT
	}
	return createFile(path, access, nil, windows.OPEN_EXISTING, attributes)
}

func createFile(path string, access uint32, security *windows.SecurityAttributes, how, attributes uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, access, shareAll, security, how, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// createNew makes the file name, which must not be there, to replace old: with its
// access list, from the beginning.
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
	return createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, security, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL)
}

// lockedByte is what a lock is held on: beyond the end of every file, as nobody else
// could read or write a byte that is locked.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1<<31 - 1} }

// lock waits until nobody else holds the file's lock.
func lock(f *os.File) error {
	return os.NewSyscallError("LockFileEx", windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, lockedByte()))
}

// unlock ends the lock now; closing would do it some time later.
func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

// rename replaces a file that others are reading, if the system can do that (since
// Windows 10, on NTFS) and they have opened it as openNow does.
func (osFiles) rename(t tempFile, path string) error {
	f := t.(osFile)
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	err := renameOver(f.Name(), path)
	if notImplemented(err) {
		err = move(f.Name(), path, windows.MOVEFILE_REPLACE_EXISTING)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: path, Err: err}
	}
	return f.close()
}

func (osFiles) publish(t tempFile, path string) error {
	f := t.(osFile)
	if err := move(f.Name(), path, 0); err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: path, Err: err}
	}
	return f.close()
}

// notImplemented reports whether the error is that of a system or file system that
// does not have an operation at all.
func notImplemented(err error) bool {
	for _, e := range []error{windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_PARAMETER, windows.ERROR_CALL_NOT_IMPLEMENTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
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

// renameOver renames a file and returns when the new name is on the disk. Who has the
// old file of that name open keeps it, as on Unix, where MoveFileEx would be refused.
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

	// Through a handle of its own: what is done through one that writes through is on
	// the disk when it returns, renaming included, and our other one is for data.
	f, err := createFile(from, windows.DELETE|windows.SYNCHRONIZE, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_WRITE_THROUGH|windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return err
	}
	defer f.Close()
	return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileRenameInfoEx, (*byte)(unsafe.Pointer(r)), uint32(8*len(buf)))
}

// syncDir has nothing to do: renaming has waited for the name.
func (osFiles) syncDir(string) error { return nil }
