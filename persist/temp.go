package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unicode/utf8"
)

// fileSystem has the steps by which Save and Open make a file. Tests simulate errors and power cuts between any two
// steps.
type fileSystem interface {
	// create makes an empty file in the folder of path under a temporary name. old is the file that
	// it will replace, or nil. create fails if inherit would fail.
	create(path string, old *os.File) (tempFile, error)
	// publish gives the file the name path in one step. If replace is false and there is a file of that name, that file
	// stays and the error wraps fs.ErrExist.
	publish(f tempFile, path string, replace bool) error
	// discard closes the file and removes its temporary name, if it still has one.
	discard(f tempFile)
	// syncDir makes the names in a folder safe against a power cut.
	syncDir(dir string) error
}

// A tempFile is a file under a temporary name.
type tempFile interface {
	io.Writer
	// inherit gives the file the owner and the permissions of old, see takeOwner. It does nothing if old is nil.
	inherit(old *os.File) error
	Sync() error
	// allocate appends zero bytes at offset, the end of the file. It checks that the file can be mapped and
	// allocates the disk space, because writing to a hole of a mapped file on a full disk kills the program.
	allocate(offset, bytes int64) error
}

// makeFile makes a file. fill writes and syncs the file and publishes it under the name path.
func makeFile(files fileSystem, path string, old *os.File, fill func(tempFile) error) error {
	if _, name := filepath.Split(path); name == "" {
		return fmt.Errorf("%w: want the name of a file", fs.ErrInvalid)
	}
	file, err := files.create(path, old)
	if err == nil {
		defer files.discard(file) // also if fill panics
		err = fill(file)
	}
	if err != nil {
		nextSearch.Store(0)
		return err
	}
	return files.syncDir(folder(path))
}

// folder is filepath.Dir without cleaning the path: cleaning would drop a link before a "..".
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, ".")
}

// osFiles is the operating system's file system.
type osFiles struct{}

// An osFile is a tempFile of the operating system.
type osFile struct{ *os.File }

// writers limits the number of files that a process writes at a time. Each needs two descriptors, and a thread while it
// waits for the disk.
var writers = make(chan struct{}, 256)

// create locks the file. The lock tells removeLeftovers of other processes that the file is in use.
func (osFiles) create(path string, old *os.File) (tempFile, error) {
	writers <- struct{}{}
	removeLeftovers(folder(path), lock)
	for {
		f, err := createNew(tempName(path), old)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			<-writers
			return nil, err
		}
		if lock(f) != errLocked && isNamed(f) { // other errors do not matter: some network file systems cannot lock
			if old != nil {
				if _, err := takeOwner(f, old); err != nil { // early: the filter is not written yet
					osFiles{}.discard(&osFile{f})
					return nil, err
				}
			}
			return &osFile{f}, nil
		}
		_ = f.Close() // another Save took it for a leftover before it was locked
	}
}

// tempName returns a temporary name for a file. It begins with the file's name, cut if the temporary name would be too
// long.
func tempName(path string) string {
	end := fmt.Sprintf(".%016x%s", rand.Uint64(), unfinished)
	dir, name := filepath.Split(path)
	for len(name)+len(end) > 255 {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return dir + name + end
}

// isNamed reports whether a file still has its name.
func isNamed(f *os.File) bool {
	want, err := f.Stat()
	if err != nil {
		return false
	}
	got, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(want, got)
}

func (osFiles) publish(f tempFile, path string, replace bool) error {
	return rename(f.(*osFile).Name(), path, replace)
}

// discard ignores errors: the data is synced or no longer needed, and a later create removes a file that is left.
func (osFiles) discard(t tempFile) {
	f := t.(*osFile)
	_ = f.Close()
	_ = os.Remove(f.Name())
	<-writers
}

func (f *osFile) inherit(old *os.File) error {
	if old == nil {
		return nil
	}
	mode, err := takeOwner(f.File, old)
	if err == nil {
		err = takeList(f.File, old)
	}
	if err != nil {
		return err
	}
	got, err := f.Stat()
	if err != nil || got.Mode().Perm() == mode {
		return err // on some file systems all files have one mode, and Chmod fails
	}
	return f.Chmod(mode)
}

func (f *osFile) allocate(offset, bytes int64) error {
	size := offset + bytes
	data, err := mapFile(f.File, int(size), false) // a check, before the space is allocated
	if err != nil {
		return err
	}
	if err := unmapFile(data); err != nil {
		return err
	}
	switch err := reserve(f.File, size); {
	case notSupported(err):
		return writeZeros(f.File, offset, bytes)
	case err != nil:
		return err
	}
	return f.Truncate(size) // on some systems reserve does not change the length
}

// writeZeros allocates disk space on a file system that lacks the operation of reserve.
func writeZeros(f *os.File, offset, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < bytes; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(bytes-at, int64(len(zeros)))], offset+at); err != nil {
			return err
		}
	}
	return nil
}

// notSupported reports whether err means that a file system lacks an operation.
func notSupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

func (osFiles) syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // not needed: publish returns when the name is on the disk
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); !notSupported(err) { // some network file systems cannot sync folders
		return err
	}
	return nil
}
