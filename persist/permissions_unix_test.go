//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// left is the end of a leftover's name.
const left = ".0123456789abcdef" + unfinished

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

// While a file is rewritten, only its owner can read the new one, from before its first byte. Then
// it has the mode of the old one.
func TestUnfinishedFileIsNotExposed(t *testing.T) {
	f := filterWith("new")
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o666} {
		path := filepath.Join(testkit.TempDir(t), "f")
		require.NoError(t, Save(path, filterWith("old")))
		require.NoError(t, os.Chmod(path, mode))
		looks := 0
		require.NoError(t, Save(path, writerTo(func(w io.Writer) (int64, error) {
			return f.WriteTo(writerFunc(func(p []byte) (int, error) {
				n, err := w.Write(p)
				temp, _ := filepath.Glob(path + ".*" + unfinished)
				require.Len(t, temp, 1)
				require.Zero(t, modeOf(t, temp[0]).Perm()&^0o600, "while the old file is %v", mode)
				looks++
				return n, err
			}))
		})))
		require.Positive(t, looks)
		require.Equal(t, mode, modeOf(t, path))
		requireNoLeftover(t, path)
	}
}

// A new file of Save and of Open has the mode that os.Create gives.
func TestNewFileIsAsOfCreate(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.NoError(t, Save(path+".saved", filterWith("a")))
	openFile(t, path+".mapped", 1000, 0.01)
	require.Equal(t, modeOf(t, path), modeOf(t, path+".saved"))
	require.Equal(t, modeOf(t, path), modeOf(t, path+".mapped"))
}

const otherID = 12345 // no user has it

// ownedByAnother makes a file of another user in a folder that everyone may write to.
func ownedByAnother(t *testing.T, mode fs.FileMode) (path string) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: files of another user, because only root may give files away")
	}
	dir, err := os.MkdirTemp("", "") // t.TempDir is in a folder that only root may enter
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	path = filepath.Join(dir, "f")
	require.NoError(t, Save(path, filterWith("old")))
	require.NoError(t, os.Chmod(path, mode))
	require.NoError(t, os.Chown(path, otherID, otherID+1))
	return path
}

// saveAsAnother saves to a path as a user that owns nothing, and returns the output of the process.
func saveAsAnother(t *testing.T, path string) (string, error) {
	t.Helper()
	program := filepath.Join(filepath.Dir(path), "program")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, self, 0o755))
	command := child.Command(program, "save once", path)
	command.Dir = filepath.Dir(path)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherID + 2, Gid: otherID + 2}}
	out, err := command.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("NOT TESTED: another user, because this test runs in an emulator and cannot start itself")
	}
	require.NoError(t, os.Remove(program))
	return string(out), err
}

// The owner and the group are kept. If they cannot be, Save returns an error and the old file stays.
func TestOwnerIsKept(t *testing.T) {
	path := ownedByAnother(t, 0o644)
	out, err := saveAsAnother(t, path)
	require.Error(t, err)
	require.Contains(t, out, "cannot keep the owner")
	require.True(t, loaded(t, path).ContainsString("old"))
	requireNoLeftover(t, path)

	require.NoError(t, Save(path, filterWith("new")))
	require.True(t, loaded(t, path).ContainsString("new"))
	info, err := os.Stat(path)
	require.NoError(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	require.EqualValues(t, otherID, stat.Uid)
	require.EqualValues(t, otherID+1, stat.Gid)
	require.Equal(t, fs.FileMode(0o644), info.Mode())
}
