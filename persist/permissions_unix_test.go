//go:build unix

package persist

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// A watchedFilter looks at the temporary file whenever a part of it is written.
type watchedFilter struct {
	*bloom.BloomFilter
	look func()
}

func (f watchedFilter) WriteTo(w io.Writer) (int64, error) {
	return f.BloomFilter.WriteTo(writerFunc(func(p []byte) (int, error) {
		f.look()
		n, err := w.Write(p)
		f.look()
		return n, err
	}))
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// While a file is rewritten, nobody can read the new one who cannot read the old
// one: from before its first byte, and whatever an earlier process has left.
func TestUnfinishedFileIsNotExposed(t *testing.T) {
	for _, leftover := range []string{"none", "empty", "full"} {
		for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o644, 0o400} {
			path := filepath.Join(tempDir(t), "f")
			require.NoError(t, Save(path, filterWith("old")))
			require.NoError(t, os.Chmod(path, mode))
			var early *os.File
			if leftover != "none" {
				content := map[string]string{"empty": "", "full": "left over"}[leftover]
				require.NoError(t, os.WriteFile(path+unfinished, []byte(content), 0o666))
				require.NoError(t, os.Chmod(path+unfinished, 0o666))
				var err error
				early, err = os.Open(path + unfinished) // and keeps it open
				require.NoError(t, err)
				defer early.Close()
			}
			looks := 0
			require.NoError(t, Save(path, watchedFilter{filterWith("new"), func() {
				info, err := os.Stat(path + unfinished)
				require.NoError(t, err)
				require.Zero(t, info.Mode().Perm()&^0o600&^mode, "%v while the old file is %v", info.Mode(), mode)
				looks++
			}}))
			require.Positive(t, looks)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode())
			if early != nil {
				got, err := io.ReadAll(early)
				require.NoError(t, err)
				require.Less(t, len(got), 10, "who had opened the leftover reads the new filter")
			}
			requireNoLeftover(t, path)
		}
	}
}

// A new file, of Save and of Open, is as os.Create makes it, whatever was left.
func TestNewFileIsAsOfCreate(t *testing.T) {
	other := filepath.Join(tempDir(t), "other")
	require.NoError(t, os.WriteFile(other, nil, 0o666))
	want, err := os.Stat(other)
	require.NoError(t, err)
	for _, leftover := range []fs.FileMode{0, 0o600, 0o666, 0o777} {
		for name, make_ := range map[string]func(path string){
			"Save": func(path string) { require.NoError(t, Save(path, filterWith("a"))) },
			"Open": func(path string) { openFile(t, path, 1000, 0.01) },
		} {
			path := filepath.Join(tempDir(t), "f")
			if leftover != 0 {
				require.NoError(t, os.WriteFile(path+unfinished, nil, 0o600))
				require.NoError(t, os.Chmod(path+unfinished, leftover))
			}
			make_(path)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, want.Mode(), info.Mode(), "%s after a leftover of %v", name, leftover)
		}
	}
}

const otherID = 12345 // of nobody

// ownedByAnother makes a file of another user's in a folder that everyone may write to.
func ownedByAnother(t *testing.T) (path string) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: that the owner is kept, for only root may give files away")
	}
	dir, err := os.MkdirTemp("", "") // t.TempDir is within a folder that only root may enter
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	path = filepath.Join(dir, "f")
	require.NoError(t, Save(path, filterWith("old")))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.Chown(path, otherID, otherID+1))
	return path
}

func TestOwnerIsKept(t *testing.T) {
	path := ownedByAnother(t)
	require.NoError(t, Save(path, filterWith("new")))
	info, err := os.Stat(path)
	require.NoError(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	require.EqualValues(t, otherID, stat.Uid)
	require.EqualValues(t, otherID+1, stat.Gid)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
}

// saveAsAnother saves to a path as a user that owns nothing, and returns what that process prints.
func saveAsAnother(t *testing.T, path string) (string, error) {
	t.Helper()
	program := filepath.Join(filepath.Dir(path), "program")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, self, 0o755))
	child := exec.Command(program, path)
	child.Dir = filepath.Dir(path)
	child.Env = append(os.Environ(), childName+"=save once")
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherID + 2, Gid: otherID + 2}}
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("NOT TESTED: another user, for this test runs in an emulator and cannot start itself")
	}
	require.NoError(t, os.Remove(program))
	return string(out), err
}

// A file that another user has left under the temporary name is in nobody's way, and stays.
func TestLeftoverOfAnotherUser(t *testing.T) {
	path := ownedByAnother(t)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o777|fs.ModeSticky))
	require.NoError(t, os.WriteFile(path+unfinished, []byte("left over"), 0o600))
	require.NoError(t, os.Chown(path+unfinished, otherID, otherID))
	for range 2 {
		out, err := saveAsAnother(t, path)
		require.NoError(t, err, out)
	}
	_, err := Load(path)
	require.NoError(t, err)
	left, err := os.ReadFile(path + unfinished)
	require.NoError(t, err)
	require.Equal(t, "left over", string(left))
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Len(t, files, 2)
}

// If the owner cannot be kept, Save returns an error and leaves the old file.
func TestOwnerThatCannotBeKept(t *testing.T) {
	path := ownedByAnother(t)
	require.NoError(t, os.Chmod(path, 0o644)) // so that the third user can see its kind
	out, err := saveAsAnother(t, path)
	require.Error(t, err)
	require.Contains(t, out, "cannot keep the owner")
	got, err := Load(path)
	require.NoError(t, err)
	require.True(t, got.ContainsString("old"), "the old file is there")
	requireNoLeftover(t, path)
}
