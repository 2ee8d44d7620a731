package persist

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A Save and an Open want the same new path at the same time. One of them is refused, and the key
// or the filter of the other one is kept.
func TestSaveRacesOpen(t *testing.T) {
	saved := filterWith("saved")
	openAndAdd := func(path string) error {
		f, err := Open(path, 1000, 1e-6)
		if err != nil {
			return err
		}
		f.AddString("added")
		return f.Close()
	}
	for range testkit.Times(5, 10, 1000) {
		for _, between := range []bool{false, true} { // Save between Open's look and its file, or both at once
			path := filepath.Join(testkit.TempDir(t), "f")
			var saveErr, openErr error
			if between {
				require.ErrorIs(t, create(before("create", func() { saveErr = Save(path, saved) }), path, saved.Scheme()), fs.ErrExist)
				openErr = openAndAdd(path) // as Open does then
			} else {
				opened := make(chan error, 1)
				go func() { opened <- openAndAdd(path) }()
				saveErr = Save(path, saved)
				openErr = <-opened
			}
			switch {
			case openErr == nil && saveErr != nil:
				require.ErrorIs(t, saveErr, fs.ErrExist)
				require.True(t, openFile(t, path, 1000, 1e-6).ContainsString("added"), "a key is lost")
			case openErr != nil && saveErr == nil:
				require.ErrorIs(t, openErr, bloom.ErrIncompatible)
				require.True(t, loaded(t, path).Equal(saved), "the saved filter is lost")
			default:
				t.Fatalf("Save: %v, Open: %v, want one error", saveErr, openErr)
			}
			requireNoLeftover(t, path)
		}
	}
}

// Open makes a mapped filter during a Save, where no file was or instead of an old one that somebody
// removes. It is not replaced.
func TestSaveSeesAMappedFilter(t *testing.T) {
	for _, old := range []bool{false, true} {
		for _, step := range []string{"create", "write", "inherit", "sync", "publish"} {
			if old && step == "publish" {
				continue // the rename follows at once
			}
			path := filepath.Join(testkit.TempDir(t), "f")
			if old {
				require.NoError(t, Save(path, filterWith("old")))
			}
			err := save(before(step, func() {
				if _, err := OpenReadOnly(path); err != nil { // once
					require.NoError(t, os.RemoveAll(path))
					require.True(t, openFile(t, path, 1000, 1e-6).AddString("added"))
				}
			}), path, filterWith("new"))
			require.ErrorIs(t, err, fs.ErrExist, step)
			require.True(t, openFile(t, path, 1000, 1e-6).ContainsString("added"))
			requireNoLeftover(t, path)
		}
	}
}

// Of two Saves of one growing filter by one process, the later has all keys of the earlier, and it
// is the one that stays.
func TestSavesFollowEachOther(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	f := filterWith("first")
	began, first := make(chan struct{}), make(chan error, 1)
	go func() {
		first <- Save(path, writerTo(func(w io.Writer) (int64, error) {
			n, err := f.WriteTo(w)
			close(began)
			time.Sleep(20 * time.Millisecond)
			return n, err
		}))
	}()
	<-began
	f.AddString("second")
	require.NoError(t, Save(path, f))
	require.NoError(t, <-first)
	require.True(t, loaded(t, path).ContainsString("second"))
	require.Empty(t, pathLocks.of)
}

// The lock of a path lives as long as a Save has it or waits for it: a third Save waits for the second.
func TestPathLockIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	wanted := func() int {
		pathLocks.Lock()
		defer pathLocks.Unlock()
		return pathLocks.of[path].wanted
	}
	unlock, second := lockPath(path), make(chan func())
	go func() { second <- lockPath(path) }()
	for wanted() < 2 {
		runtime.Gosched()
	}
	unlock()
	unlock = <-second
	l := pathLocks.of[path]
	require.NotNil(t, l, "a third Save would not wait")
	require.False(t, l.TryLock())
	unlock()
	require.Empty(t, pathLocks.of)
}
