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
	"github.com/stretchr/testify/require"
)

// special makes what no file of a filter can be.
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
}

// Every call refuses what is no file, at once: to open a FIFO is to wait until
// somebody opens its other end.
func TestSpecialFilesAreRefused(t *testing.T) {
	for name, make_ := range special {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "") // the path of a socket must be short
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, "f")
			make_(t, path)
			before, err := os.Lstat(path)
			require.NoError(t, err)

			_, err = Load(path)
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			_, err = OpenReadOnly(path)
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			_, err = Open(path, 1000, 0.01)
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			require.ErrorIs(t, Save(path, filterWith("a")), fs.ErrExist)

			after, err := os.Lstat(path)
			require.NoError(t, err)
			require.True(t, os.SameFile(before, after))
			requireNoLeftover(t, path)
		})
	}
}

// Whatever has the name of the temporary file is left alone, and in nobody's way.
func TestSpecialUnfinishedFiles(t *testing.T) {
	kinds := map[string]func(t *testing.T, path string){
		"link to a file": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+".target", []byte("theirs"), 0o666))
			require.NoError(t, os.Symlink(path+".target", path))
		},
		"link to an empty file": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+".target", nil, 0o666))
			require.NoError(t, os.Symlink(path+".target", path))
		},
		"link to nothing": func(t *testing.T, path string) { require.NoError(t, os.Symlink(path+".target", path)) },
		"link to itself":  func(t *testing.T, path string) { require.NoError(t, os.Symlink(path, path)) },
	}
	for name, make_ := range special {
		kinds[name] = make_
	}
	for name, make_ := range kinds {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, "f")
			make_(t, path+unfinished)
			target, targetErr := os.ReadFile(path + unfinished + ".target")

			before, err := os.Lstat(path + unfinished)
			require.NoError(t, err)
			require.NoError(t, Save(path, filterWith("a")))
			require.NoError(t, os.Remove(path))
			openFile(t, path, 1000, 0.01)
			after, err := os.Lstat(path + unfinished)
			require.NoError(t, err)
			require.True(t, os.SameFile(before, after))
			files, err := filepath.Glob(filepath.Join(dir, "*"+unfinished))
			require.NoError(t, err)
			require.Len(t, files, 1)

			now, nowErr := os.ReadFile(path + unfinished + ".target")
			require.Equal(t, target, now, "what the link leads to is as it was")
			require.Equal(t, targetErr, nowErr)
		})
	}
}

// syncing notes which folders are made safe.
type syncing struct {
	osFiles
	dirs []string
}

func (s *syncing) syncDir(dir string) error {
	s.dirs = append(s.dirs, dir)
	return s.osFiles.syncDir(dir)
}

// TestParentOfALink: what a ".." leads to is the parent of the folder that a link leads to, not of
// the link.
func TestParentOfALink(t *testing.T) {
	dir := tempDir(t)
	for _, name := range []string{"far", "far/away", "near"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
	}
	require.NoError(t, os.Symlink("../far/away", filepath.Join(dir, "near/link")))
	requireFar := func(files *syncing, path string) {
		t.Helper()
		require.FileExists(t, filepath.Join(dir, path))
		require.Len(t, files.dirs, 1)
		got, err := os.Stat(files.dirs[0])
		require.NoError(t, err)
		want, err := os.Stat(filepath.Join(dir, "far"))
		require.NoError(t, err)
		require.True(t, os.SameFile(got, want), files.dirs[0])
	}
	const up = "/near/link/../"

	files := &syncing{}
	require.NoError(t, save(files, dir+up+"saved", filterWith("a")))
	requireFar(files, "far/saved")

	require.NoError(t, os.Symlink("near/link/../linked", filepath.Join(dir, "name")))
	files = &syncing{}
	require.NoError(t, save(files, dir+"/name", filterWith("a")))
	requireFar(files, "far/linked")
	_, err := Load(dir + "/name")
	require.NoError(t, err)

	scheme, err := bloom.NewScheme(1000, 0.01)
	require.NoError(t, err)
	page, err := encodeHeader(scheme)
	require.NoError(t, err)
	files = &syncing{}
	require.NoError(t, create(files, dir+up+"mapped", page, scheme))
	requireFar(files, "far/mapped")
}

// A leftover with a second name is taken away from its name, and not written to.
func TestLinkedLeftover(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	other := filepath.Join(tempDir(t), "other")
	for _, content := range []string{"", "theirs"} {
		require.NoError(t, os.WriteFile(other, []byte(content), 0o666))
		require.NoError(t, os.Link(other, path+unfinished))
		require.NoError(t, Save(path, filterWith("a")))
		got, err := os.ReadFile(other)
		require.NoError(t, err)
		require.Equal(t, content, string(got))
		requireNoLeftover(t, path)
	}
}

// Open makes no file through a link that leads nowhere.
func TestOpenThroughALinkToNothing(t *testing.T) {
	dir := tempDir(t)
	path, target := filepath.Join(dir, "f"), filepath.Join(dir, "target")
	require.NoError(t, os.Symlink(target, path))
	_, err := Open(path, 1000, 0.01)
	require.Error(t, err)
	require.NoFileExists(t, target)
	requireNoLeftover(t, path)

	require.NoError(t, os.Remove(path))
	f := openFile(t, target, 1000, 0.01)
	f.AddString("key")
	require.NoError(t, os.Symlink(target, path))
	again := openFile(t, path, 1000, 0.01)
	require.True(t, again.ContainsString("key"), "one that leads to a file is followed")
	require.ErrorContains(t, Save(path, filterWith("a")), "it is a mapped filter")
	_, err = Load(path)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
}
