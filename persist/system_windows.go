package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/seed3447c163/bloom/persist/internal/regularfile"
	"golang.org/x/sys/windows"
)

// createNew makes a new file with the access list of old, the file that it will replace.
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
	const access = windows.GENERIC_READ | windows.GENERIC_WRITE | windows.DELETE
	return regularfile.CreateFile(name, access, security, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL)
}

// foreignLink is false because Windows has no sticky folders.
func foreignLink(string) bool { return false }

// takeOwner only returns the mode of the old file. createNew has already given the new file the old access list.
func takeOwner(_, old *os.File) (fs.FileMode, error) {
	info, err := old.Stat()
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}

// lock locks a file until it is closed or the process ends. It does not wait. The locked byte is beyond all data,
// because other processes cannot read a locked byte.
func lock(f *os.File) error {
	at := windows.Overlapped{Offset: math.MaxUint32 - 1, OffsetHigh: math.MaxInt32}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return errLocked
	}
	return err
}

// rename renames a file. It can replace a file that other programs have opened as regularfile.Open does, if the system
// supports that (Windows 10 or later, on NTFS).
func rename(from, to string, replace bool) error {
	var err error
	if !replace {
		err = move(from, to, 0)
	} else if err = renameOver(from, to); notImplemented(err) {
		err = move(from, to, windows.MOVEFILE_REPLACE_EXISTING)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// notImplemented reports whether err means that the system or the file system lacks an operation.
func notImplemented(err error) bool {
	return slices.ContainsFunc([]error{
		windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_PARAMETER, windows.ERROR_CALL_NOT_IMPLEMENTED,
	}, func(e error) bool { return errors.Is(err, e) })
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

// renameOver renames a file and returns when the new name is on the disk. Programs that have the replaced file open
// keep it, as on Unix; MoveFileEx would fail.
func renameOver(from, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	name, err := windows.UTF16FromString(to)
	if err != nil {
		return err
	}
	// renaming is the system's FILE_RENAME_INFO.
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

	// The handle writes through: the new name is on the disk when the call returns.
	const flags = windows.FILE_FLAG_WRITE_THROUGH | windows.FILE_FLAG_OPEN_REPARSE_POINT
	f, err := regularfile.CreateFile(from, windows.DELETE|windows.SYNCHRONIZE, nil, windows.OPEN_EXISTING, flags)
	if err != nil {
		return err
	}
	defer f.Close()
	return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileRenameInfoEx,
		(*byte)(unsafe.Pointer(r)), uint32(8*len(buf)))
}

// mapFile maps the first size bytes of a file.
func mapFile(f *os.File, size int, readOnly bool) ([]byte, error) {
	prot, access := uint32(windows.PAGE_READWRITE), uint32(windows.FILE_MAP_WRITE)
	if readOnly {
		prot, access = windows.PAGE_READONLY, windows.FILE_MAP_READ
	}
	section, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, prot, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	addr, err := windows.MapViewOfFile(section, access, 0, 0, uintptr(size))
	// The view keeps the section open.
	err = errors.Join(os.NewSyscallError("MapViewOfFile", err), windows.CloseHandle(section))
	if addr == 0 {
		return nil, err
	}
	// This is safe: the view is not the garbage collector's memory, so it stays at its address.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), size), nil
}

func unmapFile(data []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(uintptr(unsafe.Pointer(&data[0]))))
}

// flush writes changes to the disk: the first call hands them to the file system, the second waits
// for the disk.
func flush(f *os.File, data []byte) error {
	if err := windows.FlushViewOfFile(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data))); err != nil {
		return os.NewSyscallError("FlushViewOfFile", err)
	}
	return f.Sync()
}
