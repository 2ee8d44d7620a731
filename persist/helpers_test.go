package persist

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/stretchr/testify/require"
)

// key returns the i-th of a sequence of different keys.
func key(i uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte("https://example.com/"), i*0x9e3779b97f4a7c15)
}

func filterWith(keys ...string) *bloom.BloomFilter {
	f := bloom.MustNew(1000, 1e-6)
	for _, key := range keys {
		f.AddString(key)
	}
	return f
}

func openFile(t testing.TB, path string, n uint64, p float64, opts ...bloom.Option) *File {
	t.Helper()
	f, err := Open(path, n, p, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return f
}

func loaded(t *testing.T, path string) *bloom.BloomFilter {
	t.Helper()
	f, err := Load(path)
	require.NoError(t, err)
	return f
}

func requireNoLeftover(t *testing.T, path string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+unfinished+"*"))
	require.NoError(t, err)
	require.Empty(t, found)
}

// faults reports whether a call touches memory that is not there or protected.
func faults(call func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			_, fault = r.(interface{ Addr() uintptr })
		}
	}()
	call()
	return false
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// A hookedDisk is the file system with a hook before each step, which can make it fail.
type hookedDisk struct {
	osFiles
	hook func(step, path string) error
	file *os.File // the last temporary file
}

func (d *hookedDisk) create(path string, old *os.File) (tempFile, error) {
	if err := d.hook("create", path); err != nil {
		return nil, err
	}
	f, err := d.osFiles.create(path, old)
	if err != nil {
		return nil, err
	}
	d.file = f.(*osFile).File
	return hookedFile{f.(*osFile), d}, nil
}

func (d *hookedDisk) publish(f tempFile, path string, replace bool) error {
	if err := d.hook("publish", path); err != nil {
		return err
	}
	return d.osFiles.publish(f.(hookedFile).osFile, path, replace)
}

func (d *hookedDisk) discard(f tempFile) { d.osFiles.discard(f.(hookedFile).osFile) }

func (d *hookedDisk) syncDir(dir string) error {
	if err := d.hook("syncDir", dir); err != nil {
		return err
	}
	return d.osFiles.syncDir(dir)
}

type hookedFile struct {
	*osFile
	disk *hookedDisk
}

func (f hookedFile) Write(p []byte) (int, error) {
	if err := f.disk.hook("write", f.Name()); err != nil {
		n, _ := f.osFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.osFile.Write(p)
}

func (f hookedFile) inherit(old *os.File) error {
	if err := f.disk.hook("inherit", f.Name()); err != nil {
		return err
	}
	return f.osFile.inherit(old)
}

func (f hookedFile) Sync() error {
	if err := f.disk.hook("sync", f.Name()); err != nil {
		return err
	}
	return f.osFile.Sync()
}

func (f hookedFile) allocate(offset, size int64) error {
	if err := f.disk.hook("allocate", f.Name()); err != nil {
		return err
	}
	return f.osFile.allocate(offset, size)
}

// before returns a disk that calls do before a step.
func before(step string, do func()) *hookedDisk {
	return &hookedDisk{hook: func(now, _ string) error {
		if now == step {
			do()
		}
		return nil
	}}
}

// children are what a process can run instead of the tests.
var children = map[string]func(args []string) error{
	"save":      childSave,
	"add":       childAdd,
	"race":      childRace,
	"save once": childSaveOnce,
}

func TestMain(m *testing.M) { child.Main(m, children) }
