package persist

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileSystem is what Save and create do to the disk, in an interface so that a test
// can cut the power between any two steps.
type fileSystem interface {
	// create makes an empty file in the folder of path, which nobody else writes to.
	create(path string) (tempFile, error)
	// rename gives the file the name path, in place of the one that has it, and
	// closes it. It does so at once: there is no moment without a file of that name.
	rename(f tempFile, path string) error
	// publish does the same, but if there is a file of that name, its error wraps
	// fs.ErrExist.
	publish(f tempFile, path string) error
	// discard removes the file.
	discard(f tempFile) error
	// syncDir makes the names in a folder safe against a power cut.
	syncDir(dir string) error
}

// A tempFile is a file that has no name of its own yet.
type tempFile interface {
	io.Writer
	Chmod(fs.FileMode) error
	Sync() error
	// allocate makes the file longer by so many zeros at the given offset, its end,
	// and takes the space for them from the disk now: a mapped file that finds the
	// disk full kills the program.
	allocate(offset, bytes int64) error
}

// osFiles is the operating system's file system.
type osFiles struct{}

// An osFile is a temporary file.
type osFile struct{ *os.File }

func (f osFile) allocate(offset, bytes int64) error {
	err := reserve(f.File, offset+bytes)
	if err == nil {
		return f.Truncate(offset + bytes) // where to reserve does not make it longer
	}
	if !notSupported(err) {
		return err
	}
	return writeZeros(f.File, offset, bytes)
}

// writeZeros takes space where the file system cannot reserve it: slow, but sure.
func writeZeros(f *os.File, offset, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < bytes; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(bytes-at, int64(len(zeros)))], offset+at); err != nil {
			return err
		}
	}
	return nil
}

// notSupported reports whether the error is a file system's that does not have an
// operation at all.
func notSupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

// unfinished is what the name of a temporary file ends in.
const unfinished = ".unfinished"
