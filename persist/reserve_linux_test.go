package persist

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// holes returns how many bytes of a file have no space on the disk.
func holes(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size() - info.Sys().(*syscall.Stat_t).Blocks*512
}

// All the space that a file will ever need is there before it is mapped: a disk that
// is full later cannot stop the program. That is so for a new file, and for a copy
// that was made with holes.
func TestSpaceIsReserved(t *testing.T) {
	dir := tempDir(t)
	path, sparse := filepath.Join(dir, "f"), filepath.Join(dir, "copy")
	probe, err := os.Create(filepath.Join(dir, "probe"))
	require.NoError(t, err)
	defer probe.Close()
	if err := reserve(probe, 1<<20); notSupported(err) {
		t.Skip("NOT TESTED: reserved space, for this file system cannot reserve")
	}

	openFile(t, path, 1_000_000, 0.01).AddString("key")
	require.LessOrEqual(t, holes(t, path), int64(0))

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sparse, file[:headerSize], 0o666))
	require.NoError(t, os.Truncate(sparse, int64(len(file))))
	require.Positive(t, holes(t, sparse))
	f, err := OpenReadOnly(sparse) // which never touches the file
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Positive(t, holes(t, sparse))
	openFile(t, sparse, 1_000_000, 0.01)
	require.LessOrEqual(t, holes(t, sparse), int64(0))
}

// Where a file system cannot reserve, the zeros are written.
func TestWriteZeros(t *testing.T) {
	for _, size := range []int64{0, 1, 1 << 20, 3<<20 + 5} {
		path := filepath.Join(tempDir(t), "f")
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
