package persist

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

var errDisk = errors.New("disk on fire")

// Each step of Save, and of an Open that makes its file, fails in turn. The old file is there and
// no other, except after the last step.
func TestFailingDisk(t *testing.T) {
	for name, c := range map[string]struct {
		steps []string
		old   bool
		call  func(disk fileSystem, path string) error
	}{
		"Save": {[]string{"create", "write", "inherit", "sync", "inherit", "publish", "syncDir"}, true, func(d fileSystem, path string) error {
			return save(d, path, filterWith("new"))
		}},
		"Open": {[]string{"create", "write", "allocate", "sync", "publish", "syncDir"}, false, func(d fileSystem, path string) error {
			return create(d, path, filterWith().Scheme())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for fail := range len(c.steps) + 1 {
				path := filepath.Join(testkit.TempDir(t), "f")
				if c.old {
					require.NoError(t, Save(path, filterWith("old")))
				}
				var steps []string
				err := c.call(&hookedDisk{hook: func(step, _ string) error {
					steps = append(steps, step)
					if len(steps)-1 == fail {
						return errDisk
					}
					return nil
				}}, path)
				requireNoLeftover(t, path)
				if fail == len(c.steps) {
					require.NoError(t, err)
					require.Equal(t, c.steps, steps)
				} else {
					require.ErrorIs(t, err, errDisk)
				}
				switch {
				case fail >= len(c.steps)-1:
					require.FileExists(t, path)
				case c.old:
					require.True(t, loaded(t, path).Equal(filterWith("old")), steps)
				default:
					require.NoFileExists(t, path)
				}
			}
		})
	}
}

type writerTo func(w io.Writer) (int64, error)

func (f writerTo) WriteTo(w io.Writer) (int64, error) { return f(w) }

// A filter that cannot be written leaves the old one, and the lock is free, also after a panic.
func TestSaveOfAFailingWriter(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	require.NoError(t, Save(path, filterWith("old")))
	require.ErrorIs(t, Save(path, writerTo(func(w io.Writer) (int64, error) {
		n, _ := w.Write([]byte("half of"))
		return int64(n), errDisk
	})), errDisk)
	require.PanicsWithValue(t, "in WriteTo", func() {
		_ = Save(path, writerTo(func(io.Writer) (int64, error) { panic("in WriteTo") }))
	})
	requireNoLeftover(t, path)
	require.True(t, loaded(t, path).Equal(filterWith("old")))
	require.NoError(t, Save(path, filterWith("new")))
}

// A Save removes the temporary file of a process that has ended. It neither removes that of a process
// that lives nor waits for it.
func TestLeftovers(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	living, err := osFiles{}.create(path, nil) // as another process does
	require.NoError(t, err)
	other := filepath.Join(filepath.Dir(path), "other.0123456789abcdef"+unfinished) // of another path
	for _, dead := range []string{path + ".0123456789abcdef" + unfinished, other} {
		require.NoError(t, os.WriteFile(dead, []byte("half of"), 0o600))
		removeLeftovers(filepath.Dir(path), func(*os.File) error { return errors.ErrUnsupported })
		require.FileExists(t, dead, "nobody knows whether its process has ended")
		require.NoError(t, Save(path, filterWith("new")))
		require.NoFileExists(t, dead)
	}
	_, err = filterWith("living").WriteTo(living)
	require.NoError(t, err)
	require.NoError(t, osFiles{}.publish(living, path, true))
	osFiles{}.discard(living)
	require.True(t, loaded(t, path).ContainsString("living"))
	requireNoLeftover(t, path)
}
