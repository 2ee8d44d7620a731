//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

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

	"github.com/seed3447c163/bloom/internal/testing/resources"
	"github.com/stretchr/testify/require"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

// While a file is rewritten, only its owner can read the new one, from before its first byte and
// whatever an earlier process has left. Then it has the mode of the old one.
func TestUnfinishedFileIsNotExposed(t *testing.T) {
	for _, leftover := range []bool{false, true} {
		for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o666} {
			path := filepath.Join(resources.TempDir(t), "f")
			require.NoError(t, Save(path, filterWith("old")))
			require.NoError(t, os.Chmod(path, mode))
			var early *os.File
			if leftover {
				require.NoError(t, os.WriteFile(path+unfinished, []byte("left over"), 0o666))
				require.NoError(t, os.Chmod(path+unfinished, 0o666))
				require.NoError(t, os.Link(path+unfinished, path+".second"))
				var err error
				early, err = os.Open(path + unfinished)
				require.NoError(t, err)
				defer early.Close()
			}
			looks := 0
			f := filterWith("new")
			require.NoError(t, Save(path, writerTo(func(w io.Writer) (int64, error) {
				return f.WriteTo(writerFunc(func(p []byte) (int, error) {
					n, err := w.Write(p)
					require.Zero(t, modeOf(t, path+unfinished).Perm()&^0o600, "while the old file is %v", mode)
					looks++
					return n, err
				}))
			})))
			require.Positive(t, looks)
			require.Equal(t, mode, modeOf(t, path))
			requireNoLeftover(t, path)
			if leftover {
				got, err := io.ReadAll(early)
				require.NoError(t, err)
				require.Equal(t, "left over", string(got), "a reader of the leftover sees the new filter")
				require.FileExists(t, path+".second")
			}
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// A new file of Save and of Open has the mode that os.Create gives, also after a leftover.
func TestNewFileIsAsOfCreate(t *testing.T) {
	other := filepath.Join(resources.TempDir(t), "other")
	require.NoError(t, os.WriteFile(other, nil, 0o666))
	for _, leftover := range []fs.FileMode{0, 0o600, 0o777} {
		for name, make_ := range map[string]func(path string){
			"Save": func(path string) { require.NoError(t, Save(path, filterWith("a"))) },
			"Open": func(path string) { openFile(t, path, 1000, 0.01) },
		} {
			path := filepath.Join(resources.TempDir(t), "f")
			if leftover != 0 {
				require.NoError(t, os.WriteFile(path+unfinished, nil, 0o600))
				require.NoError(t, os.Chmod(path+unfinished, leftover))
			}
			make_(path)
			require.Equal(t, modeOf(t, other), modeOf(t, path), "%s after a leftover of %v", name, leftover)
		}
	}
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
	child := exec.Command(program, path)
	child.Dir = filepath.Dir(path)
	child.Env = append(os.Environ(), childName+"=save once")
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherID + 2, Gid: otherID + 2}}
	out, err := child.CombinedOutput()
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

// A leftover or a lock of another user stays and does not disturb.
func TestLeftoverOfAnotherUser(t *testing.T) {
	path := ownedByAnother(t, 0o644)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o777|fs.ModeSticky))
	for _, end := range []string{unfinished, unfinished + ".lock"} {
		require.NoError(t, os.WriteFile(path+end, []byte("theirs"), 0o600))
		require.NoError(t, os.Chown(path+end, otherID, otherID))
		for range 2 {
			out, err := saveAsAnother(t, path)
			require.NoError(t, err, out)
		}
		loaded(t, path)
		files, err := filepath.Glob(path + "*")
		require.NoError(t, err)
		require.Len(t, files, 2)
		left, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.Equal(t, "theirs", string(left))
		require.NoError(t, os.Remove(path+end))
	}
}
