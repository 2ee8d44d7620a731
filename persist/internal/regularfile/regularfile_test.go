//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOpen: a file is opened, also through a link without NoFollow. All else is refused at once.
func TestOpen(t *testing.T) {
	refused := errors.New("refused")
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{file, link} {
		f, info, err := Open(path, os.O_RDONLY, refused)
		require.NoError(t, err)
		require.EqualValues(t, 4, info.Size())
		require.NoError(t, f.Close())
	}
	_, _, err := Open(link, os.O_RDONLY|NoFollow, refused)
	require.ErrorIs(t, err, refused)
	require.ErrorContains(t, err, "is a symbolic link, want a regular file")
	for path, is := range map[string]string{dir: "a directory", fifo: "a named pipe", os.DevNull: "a device"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | NoFollow} {
			_, _, err := Open(path, flag, refused)
			require.ErrorIs(t, err, refused, "%s %#x", path, flag)
			require.EqualError(t, err, "open "+path+": is "+is+", want a regular file")
		}
	}
	_, _, err = Open(filepath.Join(dir, "none"), os.O_RDONLY, refused)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
