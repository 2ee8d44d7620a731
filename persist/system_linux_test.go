package persist

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// holes returns how many bytes of a file have no space on the disk.
func holes(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size() - info.Sys().(*syscall.Stat_t).Blocks*512
}

// All the space of a file is reserved before it is mapped, for a new file and for a copy with holes:
// a disk that is full later cannot stop the program.
func TestSpaceIsReserved(t *testing.T) {
	dir := testkit.TempDir(t)
	path, sparse := filepath.Join(dir, "f"), filepath.Join(dir, "copy")
	probe, err := os.Create(filepath.Join(dir, "probe"))
	require.NoError(t, err)
	defer probe.Close()
	if err := reserve(probe, 1<<20); notSupported(err) {
		t.Skip("NOT TESTED: reserved space, because this file system cannot reserve")
	}
	openFile(t, path, 1_000_000, 0.01).AddString("key")
	require.LessOrEqual(t, holes(t, path), int64(0))

	makeSparse(t, sparse, path)
	f, err := OpenReadOnly(sparse) // which never changes the file
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Positive(t, holes(t, sparse))
	openFile(t, sparse, 1_000_000, 0.01)
	require.LessOrEqual(t, holes(t, sparse), int64(0))
}

// A file that cannot be read may be a mapped filter. The first bytes of this one cannot: no memory is there.
func TestSaveOverAFileThatCannotBeRead(t *testing.T) {
	require.ErrorIs(t, Save("/proc/self/mem", filterWith("a")), syscall.EIO)
}

// makeSparse makes a file with the header and the size of another one, and a hole for the words.
func makeSparse(t *testing.T, path, of string) {
	t.Helper()
	file, err := os.ReadFile(of)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, file[:headerSize], 0o600))
	require.NoError(t, os.Truncate(path, int64(len(file))))
	require.Positive(t, holes(t, path))
}

// On a file system that cannot reserve, zeros are written.
func TestWriteZeros(t *testing.T) {
	for _, size := range []int64{0, 1, 1 << 20, 3<<20 + 5} {
		path := filepath.Join(testkit.TempDir(t), "f")
		f, err := os.Create(path)
		require.NoError(t, err)
		_, err = f.WriteString("head")
		require.NoError(t, err)
		require.NoError(t, writeZeros(f, 4, size))
		require.NoError(t, f.Close())
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(append([]byte("head"), make([]byte, size)...), got))
	}
}

func init() {
	yieldProcessor = func() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
}

// On tmpfs a hole takes memory when it is read. If there is none, OpenReadOnly returns an error
// instead of lookups that end the program.
func TestSparseFileInFullMemory(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("NOT TESTED: a full tmpfs, because it cannot be mounted:", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	whole := filepath.Join(t.TempDir(), "f")
	openFile(t, whole, 400_000, 0.01)
	sparse, filler := filepath.Join(dir, "f"), filepath.Join(dir, "filler")
	makeSparse(t, sparse, whole)
	lookups := func() error {
		f, err := OpenReadOnly(sparse)
		if err != nil {
			return err
		}
		defer f.Close()
		require.False(t, faults(func() { f.Stats() }), "a lookup would have ended the program")
		return nil
	}
	require.Error(t, os.WriteFile(filler, make([]byte, 1<<20), 0o600))
	require.ErrorIs(t, lookups(), syscall.ENOSPC)
	require.NoError(t, os.Remove(filler))
	require.NoError(t, lookups())
	_ = os.WriteFile(filler, make([]byte, 1<<20), 0o600)
	require.NoError(t, lookups(), "it has its memory now")
}
