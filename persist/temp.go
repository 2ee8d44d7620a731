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
	"sync"
	"syscall"

	"github.com/seed3447c163/bloom/internal/regular"
)

// fileSystem is what Save and Open do to the disk to make a file. It is an interface so
// that a test can cut the power between any two steps.
type fileSystem interface {
	// create makes an empty file in the folder of path. It locks path if it can, until the
	// file is published or discarded: another create of the same path then waits.
	create(path string) (tempFile, error)
	// publish gives the file the name path, in one step, instead of the file that replaces
	// returned. If path then names any other file, the error wraps fs.ErrExist.
	publish(f tempFile, path string) error
	// discard removes the file.
	discard(f tempFile) error
	// syncDir makes the names in a folder safe against a power cut.
	syncDir(dir string) error
}

// A tempFile is a file under a temporary name.
type tempFile interface {
	io.Writer
	// replaces returns the file that path named at create, open for reading, or nil. A user
	// that cannot read that file cannot read the temporary file.
	replaces() *os.File
	// inherit gives the temporary file the owner and the permissions of the old file, if
	// there is one.
	inherit() error
	Sync() error
	// allocate makes the file longer by so many zeros at the given offset, its end. It checks
	// that the file can be mapped and takes the space from the disk, because a mapped file on
	// a full disk kills the program.
	allocate(offset, bytes int64) error
}

// replaceFile makes a file that fill writes and gives it the name path. An error leaves the
// old file and no other, except an error of the last step.
func replaceFile(files fileSystem, path string, fill func(tempFile) error) (err error) {
	file, err := files.create(path)
	if err != nil {
		return err
	}
	published := false
	defer func() {
		if !published { // also if fill panics
			err = and(err, files.discard(file))
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

// maxWriters limits the files that a process writes at a time. Each needs two open files, and a
// thread while it waits for the disk or for another process.
const maxWriters = 256

var (
	writers  = make(chan struct{}, maxWriters)
	queuesMu sync.Mutex
	queues   = map[string]*queue{} // by absolute path
)

// A queue lets one writer of a path after the other go on.
type queue struct {
	sync.Mutex
	waiting int // guarded by queuesMu
}

// enter waits until this goroutine may write to path. makeTemp then waits for other processes.
func enter(path string) (leave func()) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	queuesMu.Lock()
	q := queues[path]
	if q == nil {
		q = &queue{}
		queues[path] = q
	}
	q.waiting++
	queuesMu.Unlock()
	q.Lock()
	writers <- struct{}{}
	return func() {
		<-writers
		q.Unlock()
		queuesMu.Lock()
		defer queuesMu.Unlock()
		if q.waiting--; q.waiting == 0 {
			delete(queues, path)
		}
	}
}

// osFiles is the operating system's file system.
type osFiles struct{}

// An osFile is a temporary file.
type osFile struct {
	*os.File
	old   *os.File // the file that it replaces, or nil
	leave func()   // lets other writers of the path go on
}

func (osFiles) create(path string) (tempFile, error) {
	leave := enter(path)
	f, err := makeTemp(path)
	if err != nil {
		leave()
		return nil, err
	}
	unlock := f.leave
	f.leave = func() {
		if unlock != nil {
			unlock()
		}
		leave()
	}
	return f, nil
}

// close closes both files. A failure loses nothing: the data is synced or no longer needed.
func (f osFile) close() {
	if f.old != nil {
		_ = f.old.Close()
	}
	if f.File != nil {
		_ = f.File.Close()
	}
	if f.leave != nil {
		f.leave()
	}
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
	data, err := mapFile(f.File, int(offset+bytes), false) // before the space is taken
	if err == nil {
		err = unmapFile(data)
	}
	if err == nil {
		err = reserve(f.File, offset+bytes)
	}
	if err == nil {
		return f.Truncate(offset + bytes) // on some systems reserve leaves the length
	}
	if data != nil && notSupported(err) {
		err = writeZeros(f.File, offset, bytes)
	}
	return err
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

// names reports whether path names this very file.
func names(path string, f *os.File) (bool, error) {
	want, err := f.Stat()
	if err != nil {
		return false, err
	}
	got, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(want, got), err
}

var errOther = fmt.Errorf("%w: another program has given the name to another file", fs.ErrExist)

// checkReplaces returns errOther if path names a file other than f.old. Systems that cannot
// compare and rename in one step call it just before they rename.
func (f osFile) checkReplaces(path string) error {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.old == nil:
		return errOther
	}
	same, err := names(path, f.old)
	if err == nil && !same {
		err = errOther
	}
	return err
}

// openOld opens the file that is to be replaced; it returns nil if there is none.
func openOld(path string) (*os.File, error) {
	// Links were followed before. One that is here now is new.
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

// modeFor returns the mode for a new temporary file. Only its owner can read a file that
// replaces another one, until it is complete.
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
	err = d.Sync()
	if notSupported(err) {
		err = nil // some network file systems cannot
	}
	return errors.Join(err, d.Close())
}

// unfinished is the end of a temporary file's name.
const unfinished = ".unfinished"

// randomName returns a temporary name for path that nobody else has.
func randomName(path string) string {
	return fmt.Sprintf("%s.%016x%s", path, rand.Uint64(), unfinished)
}
