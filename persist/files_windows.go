package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/regular"
	"golang.org/x/sys/windows"
)

// shareAll lets others read, write, rename and replace a file that we have open.
// os.Open does not let them do the last two.
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
	return createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, shareAll, security, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL)
}

// create makes the file path.unfinished, while it holds the lock of path. A leftover of
// that name, of a process that was killed, is removed.
func (osFiles) create(path string) (_ tempFile, err error) {
	t := osFile{}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if t.lock, err = lock(path + unfinished + ".lock"); err != nil {
		return nil, err
	}
	if t.old, err = openOld(path); err != nil {
		return nil, err
	}
	name := path + unfinished
	t.File, err = createNew(name, t.old)
	if errors.Is(err, fs.ErrExist) {
		info, lookErr := os.Lstat(name)
		if err = lookErr; err == nil {
			err = regular.Check(name, info, fs.ErrExist)
		}
		if err == nil {
			err = os.Remove(name)
		}
		if err == nil {
			t.File, err = createNew(name, t.old)
		}
	}
	return t, err
}

// lock makes the file name, which nobody else can open until it is closed. That is the
// lock: it ends with its process. It waits until it can be had.
//
// The temporary file itself cannot be it, as on Unix: those that wait would have it
// open, and not every Windows can remove or replace a file that is open.
func lock(name string) (*os.File, error) {
	const pause = 5 * time.Millisecond
	denied := 0
	for {
		f, err := createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, 0, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT)
		switch {
		case err == nil:
			info, err := f.Stat()
			if err == nil {
				err = regular.Check(name, info, fs.ErrExist)
			}
			if err == nil && info.Size() > 0 {
				err = fmt.Errorf("%w: %q is somebody's file", fs.ErrExist, name)
			}
			if err != nil {
				f.Close()
				return nil, err
			}
			return f, nil
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		case errors.Is(err, windows.ERROR_ACCESS_DENIED) && denied < 200: // it is just being removed
			denied++
		default:
			return nil, err
		}
		time.Sleep(pause)
	}
}

// close closes all files and takes the lock's away.
func (f osFile) close() error {
	var err error
	if f.old != nil {
		_ = f.old.Close() // nothing was written to it
	}
	if f.File != nil {
		err = f.File.Close()
	}
	if f.lock != nil {
		remove := [1]byte{1} // FILE_DISPOSITION_INFO
		_ = windows.SetFileInformationByHandle(windows.Handle(f.lock.Fd()), windows.FileDispositionInfo, &remove[0], 1)
		_ = f.lock.Close()
	}
	return err
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	err := os.Remove(f.Name())
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return f.close()
	}
	// Not every Windows can remove an open file; the lock is held until it is gone.
	closed := f.File.Close()
	err = os.Remove(f.Name())
	f.close()
	return errors.Join(closed, err)
}

// rename replaces a file that others are reading, if the system can do that (since
// Windows 10, on NTFS) and they have opened it as regular.Open does.
func (osFiles) rename(t tempFile, path string) error {
	f := t.(osFile)
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	err := renameOver(f.Name(), path)
	if notImplemented(err) {
		if f.old != nil {
			_ = f.old.Close() // what is open cannot be replaced
		}
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
	f, err := createFile(from, windows.DELETE|windows.SYNCHRONIZE, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_WRITE_THROUGH|windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return err
	}
	defer f.Close()
	return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileRenameInfoEx, (*byte)(unsafe.Pointer(r)), uint32(8*len(buf)))
}

// syncDir has nothing to do: renaming has waited for the name.
func (osFiles) syncDir(string) error { return nil }
