package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/seed3447c163/bloom/internal/regular"
)

// fileSystem is what Save and Open do to the disk to make a file. Tests cut the power or fail
// between any two steps.
type fileSystem interface {
	// create makes an empty file in the folder of path. It locks path if it can, until publish
	// or discard: another create of the same path then waits.
	create(path string) (tempFile, error)
	// publish gives the file the name path instead of the file that replaces returned, in one
	// step. If path then names any other file, the error wraps fs.ErrExist.
	publish(f tempFile, path string) error
	// discard removes the file.
	discard(f tempFile) error
	// syncDir makes the names in a folder safe against a power cut.
	syncDir(dir string) error
}

// A tempFile is a file under a temporary name.
type tempFile interface {
	io.Writer
	// replaces returns the file that path named at create, open for reading, or nil.
	replaces() *os.File
	// inherit gives the temporary file the owner and the permissions of the old file, if any.
	inherit() error
	Sync() error
	// allocate appends so many zeros at the given offset, the file's end. It checks that the
	// file can be mapped and takes the space from the disk, because a mapped file on a full
	// disk kills the program.
	allocate(offset, bytes int64) error
}

// replaceFile makes a file that fill writes and gives it the name path.
func replaceFile(files fileSystem, path string, fill func(tempFile) error) error {
	file, err := files.create(path)
	if err != nil {
		return err
	}
	published := false
	defer func() {
		if !published { // also if fill panics
			_ = files.discard(file) // or the next create removes it
		}
	}()
	err = fill(file)
	if err == nil {
		err = file.Sync() // before the name: the name could survive a power cut without the data
	}
	if err == nil {
		err = files.publish(file, path)
	}
	if err != nil {
		return err
	}
	published = true
	dir, _ := filepath.Split(path) // filepath.Dir would drop a link before a ".."
	if dir == "" {
		dir = "."
	}
	return files.syncDir(dir)
}

// osFiles is the operating system's file system.
type osFiles struct{}

// An osFile is a temporary file.
type osFile struct {
	*os.File
	old    *os.File // the file that it replaces, or nil
	unlock func()   // nil without a lock
}

// writers limits the files that a process writes at a time. Each needs three open files, and a
// thread while it waits for the disk or for another writer.
var writers = make(chan struct{}, 256)

func (osFiles) create(path string) (tempFile, error) {
	writers <- struct{}{}
	f, err := makeTemp(path)
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// errTaken means that a name belongs to another user or to another kind of file.
var errTaken = errors.New("the name is taken")

// makeTemp makes the file path.unfinished under the lock of path. The names are always the same, so
// killed processes leave one file and its lock at most. If a name is taken, makeTemp uses a random
// one, and no lock if the lock's name is taken.
func makeTemp(path string) (t osFile, err error) {
	name := path + unfinished
	if t.unlock, err = lock(name + ".lock"); err == errTaken {
		name = randomName(path)
	} else if err != nil {
		return t, err
	}
	if t.old, err = openOld(path); err != nil {
		return t, err
	}
	t.File, err = createNew(name, t.old)
	if errors.Is(err, fs.ErrExist) {
		// A leftover is removed, not used: it can have other permissions, a second name or a reader.
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || !isOurs(info) || os.Remove(name) != nil {
			name = randomName(path)
		}
		t.File, err = createNew(name, t.old)
	}
	return t, err
}

func (osFiles) publish(t tempFile, path string) error {
	f := t.(osFile)
	if err := f.rename(path); err != nil {
		return err
	}
	f.close()
	return nil
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	err := os.Remove(f.Name()) // before close, while the lock is held
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = f.File.Close() // not every Windows can remove an open file
		err = os.Remove(f.Name())
	}
	f.close()
	return err
}

// close ends the use of the files. A failure loses nothing: the data is synced or no longer needed.
func (f osFile) close() {
	if f.old != nil {
		_ = f.old.Close()
	}
	if f.File != nil {
		_ = f.File.Close()
	}
	if f.unlock != nil {
		f.unlock()
	}
	<-writers
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
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if err := takeOwner(f.File, now, old); err != nil {
		return fmt.Errorf("cannot keep the owner: %w", err)
	}
	if now.Mode().Perm() == old.Mode().Perm() {
		return nil // some file systems have one mode for all files, and refuse to set any
	}
	return f.Chmod(old.Mode().Perm())
}

func (f osFile) allocate(offset, bytes int64) error {
	size := offset + bytes
	data, err := mapFile(f.File, int(size), false) // before the space is taken
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
	return f.Truncate(size) // on some systems reserve leaves the length
}

// writeZeros takes space on a file system that cannot reserve it.
func writeZeros(f *os.File, offset, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < bytes; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(bytes-at, int64(len(zeros)))], offset+at); err != nil {
			return err
		}
	}
	return nil
}

var errOther = fmt.Errorf("%w: another program has given the name to another file", fs.ErrExist)

// checkReplaces returns errOther if path names a file other than f.old.
func (f osFile) checkReplaces(path string) error {
	now, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.old == nil:
		return errOther
	}
	old, err := f.old.Stat()
	if err == nil && !os.SameFile(old, now) {
		err = errOther
	}
	return err
}

// openOld opens the file at path, or returns nil if there is none. It follows no link: realPath has
// followed the old ones.
func openOld(path string) (*os.File, error) {
	f, _, err := regular.Open(path, os.O_RDONLY|regular.NoFollow, fs.ErrExist)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// modeFor returns the mode for a new temporary file. Until it is complete, only its owner can read
// a file that replaces another one.
func modeFor(old *os.File) fs.FileMode {
	if old != nil {
		return 0o600
	}
	return 0o666
}

// notSupported reports whether a file system lacks an operation.
func notSupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

func (osFiles) syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // publish has waited for the name
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); !notSupported(err) { // some network file systems cannot
		return err
	}
	return nil
}

// unfinished is the end of a temporary file's name.
const unfinished = ".unfinished"

// randomName returns a temporary name for path that no other process uses.
func randomName(path string) string {
	return fmt.Sprintf("%s.%016x%s", path, rand.Uint64(), unfinished)
}
