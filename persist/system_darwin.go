package persist

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve allocates disk space for the first size bytes of a file.
func reserve(f *os.File, size int64) error {
	store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: size}
	return os.NewSyscallError("fcntl", unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &store))
}

func fillHoles(*os.File, os.FileInfo, []byte, bool) error { return nil }

func renameNew(from, to string) error {
	return os.NewSyscallError("renamex_np", unix.RenamexNp(from, to, unix.RENAME_EXCL))
}

func accessList(*os.File) []byte { return nil }

func takeList(_, _ *os.File) error { return nil }
