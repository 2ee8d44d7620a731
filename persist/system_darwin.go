package persist

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes the space for the first size bytes of an empty file, or one of a
// header, from the disk.
func reserve(f *os.File, size int64) error {
	store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: size}
	return os.NewSyscallError("fcntl", unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &store))
}

func fillHoles(*os.File, os.FileInfo) error { return nil }

func populate(*os.File, os.FileInfo, []byte) error { return nil }

// renameNew renames a file to a name that no file has.
func renameNew(from, to string) error { return rename(from, to, unix.RENAME_EXCL) }

// swapNames exchanges the names of two files.
func swapNames(a, b string) error { return rename(a, b, unix.RENAME_SWAP) }

func rename(from, to string, flags uint32) error {
	if err := unix.RenamexNp(from, to, flags); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
