//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// special makes a file that no filter can have.
var special = map[string]func(t *testing.T, path string){
	"FIFO":      func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o666)) },
	"directory": func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o777)) },
	"socket": func(t *testing.T, path string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		require.NoError(t, err)
		l.SetUnlinkOnClose(false)
		require.NoError(t, l.Close())
	},
	"link to a device": func(t *testing.T, path string) { require.NoError(t, os.Symlink("/dev/zero", path)) },
	"file":             func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o666)) },
	"link to a file": func(t *testing.T, path string) {
		require.NoError(t, os.WriteFile(path+".target", []byte("theirs"), 0o666))
		require.NoError(t, os.Symlink(path+".target", path))
	},
	"link to nothing": func(t *testing.T, path string) { require.NoError(t, os.Symlink(path+".target", path)) },
	"link to itself":  func(t *testing.T, path string) { require.NoError(t, os.Symlink(path, path)) },
}

// makeSpecial makes such a file in a folder whose path is short enough for a socket.
func makeSpecial(t *testing.T, kind, end string) (path string, before fs.FileInfo) {
	t.Helper()
	dir, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path = filepath.Join(dir, "f")
	special[kind](t, path+end)
	before, err = os.Lstat(path + end)
	require.NoError(t, err)
	return path, before
}

func requireSame(t *testing.T, path string, before fs.FileInfo) {
	t.Helper()
	after, err := os.Lstat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

// Every call refuses a file that is no regular one at once: to open a FIFO is to wait for its other
// end.
func TestSpecialFilesAreRefused(t *testing.T) {
	for _, kind := range []string{"FIFO", "directory", "socket", "link to a device"} {
		t.Run(kind, func(t *testing.T) {
			path, before := makeSpecial(t, kind, "")
			_, err := Load(path)
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			_, err = OpenReadOnly(path)
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			_, err = Open(path, 1000, 0.01)
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			require.ErrorIs(t, Save(path, filterWith("a")), fs.ErrExist)
			requireSame(t, path, before)
			requireNoLeftover(t, path)
		})
	}
}

// TestMountedFile: a file that is mounted by itself cannot be replaced, and the error says what to do.
func TestMountedFile(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	require.NoError(t, Save(path, filterWith("a")))
	busy := &hookedDisk{hook: func(step, path string) error {
		if step == "publish" {
			return &os.LinkError{Op: "rename", Old: path + ".temporary", New: path, Err: syscall.EBUSY}
		}
		return nil
	}}
	err := failed("save", path, save(busy, path, filterWith("b")))
	require.ErrorIs(t, err, syscall.EBUSY)
	require.ErrorContains(t, err, "as into a container, cannot be replaced; mount its folder")
	require.True(t, loaded(t, path).ContainsString("a"))
	requireNoLeftover(t, path)
}

// A special file under the name of a leftover stays and does not disturb, and so does a file under a
// name that is not quite one.
func TestSpecialUnfinishedFiles(t *testing.T) {
	for kind := range special {
		end := left
		if kind == "file" { // it would be a leftover
			end = ".x" + left[2:]
		}
		t.Run(kind, func(t *testing.T) {
			path, before := makeSpecial(t, kind, end)
			require.NoError(t, Save(path, filterWith("a")))
			require.NoError(t, os.Remove(path))
			openFile(t, path, 1000, 0.01)
			requireSame(t, path+end, before)
			target, err := os.ReadFile(path + end + ".target")
			if kind == "link to a file" {
				require.Equal(t, "theirs", string(target))
			} else {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
			os.Remove(path + end)
			os.Remove(path + end + ".target")
			requireNoLeftover(t, path)
		})
	}
}

// ".." after a link is the parent of the link's target. The new name is there, and its folder is
// synced.
func TestParentOfALink(t *testing.T) {
	dir := testkit.TempDir(t)
	for _, name := range []string{"far", "far/away", "near"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
	}
	far, err := os.Stat(filepath.Join(dir, "far"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink("../far/away", filepath.Join(dir, "near/link")))
	require.NoError(t, os.Symlink("near/link/../linked", filepath.Join(dir, "name")))
	synced := 0
	disk := &hookedDisk{hook: func(step, path string) error {
		if step == "syncDir" {
			got, err := os.Stat(path)
			require.NoError(t, err)
			require.True(t, os.SameFile(got, far), path)
			synced++
		}
		return nil
	}}
	f := filterWith("a")
	require.NoError(t, save(disk, dir+"/near/link/../saved", f))
	require.NoError(t, save(disk, dir+"/name", f))
	require.NoError(t, create(disk, dir+"/near/link/../mapped", f.Scheme()))
	for _, name := range []string{"saved", "linked", "mapped"} {
		require.FileExists(t, filepath.Join(dir, "far", name))
	}
	require.Equal(t, 3, synced)
}

// Open makes no file through a link that leads nowhere, and follows one that leads to a file.
func TestOpenThroughALink(t *testing.T) {
	path, _ := makeSpecial(t, "link to nothing", "")
	_, err := Open(path, 1000, 0.01)
	require.Error(t, err)
	require.NoFileExists(t, path+".target")
	requireNoLeftover(t, path)
	openFile(t, path+".target", 1000, 0.01).AddString("key")
	require.True(t, openFile(t, path, 1000, 0.01).ContainsString("key"))
	require.ErrorContains(t, Save(path, filterWith("a")), "it is a mapped filter")
}
