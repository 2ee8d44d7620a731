package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/seed3447c163/bloom/internal/regular"
)

// fileSystem is what Save and create do to the disk, in an interface so that a test
// can cut the power between any two steps.
type fileSystem interface {
	// create makes an empty file in the folder of path, and locks path: until the
	// file is renamed, published or discarded, nobody else's create returns for the
	// same path, so that neither Save nor Open gives it another file.
	create(path string) (tempFile, error)
	// rename gives the file the name path, in place of the one that it replaces, and
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
	// replaces returns the file that had the name when it was locked, open for
	// reading, or nil. Nobody else can read the temporary file who cannot read that.
	replaces() *os.File
	// inherit gives the temporary file the owner and the permissions of the one that
	// it replaces, if there is one.
	inherit() error
	Sync() error
	// allocate makes the file longer by so many zeros at the given offset, its end,
	// and takes the space for them from the disk now: a mapped file that finds the
	// disk full kills the program.
	allocate(offset, bytes int64) error
}

// osFiles is the operating system's file system.
type osFiles struct{}

// An osFile is a temporary file.
type osFile struct {
	*os.File
	old *os.File // the file that it replaces, or nil
	//lint:ignore U1000 it is for Windows
	lock *os.File
}

func (f osFile) replaces() *os.File { return f.old }

func (f osFile) inherit() error {
	if f.old == nil {
		return nil
	}
	old, err := f.old.Stat()
	if err != nil {
		return err
	}
	if err := takeOwner(f.File, old); err != nil {
		return fmt.Errorf("cannot keep the owner: %w", err)
	}
	now, err := f.Stat()
	if err != nil || now.Mode().Perm() == old.Mode().Perm() {
		return err // some file systems have one mode for all files, and refuse to set any
	}
	return f.Chmod(old.Mode().Perm())
}

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

// hasName reports whether path names this very file.
func hasName(f *os.File, path string) (bool, error) {
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(ours, named), err
}

// checkReplaces returns an error if path names a file, and another than the one that
// create has found: a program that knows of no lock has put it there.
func (f osFile) checkReplaces(path string) error {
	named, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.old == nil:
		return fmt.Errorf("%w: another file has got the name meanwhile", fs.ErrExist)
	}
	old, err := f.old.Stat()
	if err == nil && !os.SameFile(old, named) {
		err = fmt.Errorf("%w: another file has got the name meanwhile", fs.ErrExist)
	}
	return err
}

// openOld opens the file that is to be replaced; it returns nil if there is none.
func openOld(path string) (*os.File, error) {
	// A symbolic link that is here now was not when the path was looked up.
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = regular.Check(path, info, fs.ErrExist)
	}
	if err != nil {
		return nil, err
	}
	f, _, err := regular.Open(path, os.O_RDONLY|regular.NoFollow, fs.ErrExist)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// modeFor returns the mode that a temporary file is made with. One that replaces a
// file is its owner's alone until it is complete.
func modeFor(old *os.File) fs.FileMode {
	if old != nil {
		return 0o600
	}
	return 0o666
}

// unfinished is what the name of a temporary file ends in.
const unfinished = ".unfinished"
