package persist

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/testing/resources"
	"github.com/stretchr/testify/require"
)

// slow returns a filter that lets something begin while it is written.
func slow(f *bloom.BloomFilter, begin func()) io.WriterTo {
	return writerTo(func(w io.Writer) (int64, error) {
		begin()
		return f.WriteTo(w)
	})
}

// A Save and an Open want the same new path at the same time. One of them is refused, and the key
// or the filter of the other one is kept.
func TestSaveRacesOpen(t *testing.T) {
	const n, p = 1000, 1e-6
	saved := filterWith("saved")
	openAndAdd := func(path string) error {
		f, err := Open(path, n, p)
		if err != nil {
			return err
		}
		if !f.AddString("added") {
			t.Error("added before")
		}
		return f.Close()
	}
	// Each forces one order, and returns the errors of Save and Open.
	for name, race := range map[string]func(path string) (save_, open error){
		"Open between Save's beginning and its lock": func(path string) (save_, open error) {
			save_ = save(before("create", func() { open = openAndAdd(path) }), path, saved)
			return
		},
		"Save between Open's look and its lock": func(path string) (save_, open error) {
			open = create(before("create", func() { save_ = Save(path, saved) }), path, saved.Scheme())
			if errors.Is(open, errOther) {
				open = openAndAdd(path) // as Open does then
			}
			return
		},
		"Open while Save writes": func(path string) (save_, open error) {
			opened := make(chan error, 1)
			save_ = Save(path, slow(saved, func() { go func() { opened <- openAndAdd(path) }() }))
			return save_, <-opened
		},
		"both at once": func(path string) (save_, open error) {
			opened := make(chan error, 1)
			go func() { opened <- openAndAdd(path) }()
			save_ = Save(path, saved)
			return save_, <-opened
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range effort.Times(5, 10, 1000) {
				path := filepath.Join(resources.TempDir(t), "f")
				saveErr, openErr := race(path)
				switch {
				case openErr == nil && saveErr != nil:
					require.ErrorIs(t, saveErr, fs.ErrExist)
					require.True(t, openFile(t, path, n, p).ContainsString("added"), "a key is lost")
				case openErr != nil && saveErr == nil:
					require.ErrorIs(t, openErr, bloom.ErrCorrupt)
					require.True(t, loaded(t, path).Equal(saved), "the saved filter is lost")
				default:
					t.Fatalf("Save: %v, Open: %v, want one error", saveErr, openErr)
				}
				requireNoLeftover(t, path)
			}
		})
	}
}

// A program that knows of no lock gives the name to its own file during Save or at the same time as
// Save does. It keeps the name, and Save returns an error.
func TestSaveReplacesOnlyWhatItHasSeen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: another program's file, because Windows cannot compare and replace in one step")
	}
	const text = "another program's only copy"
	for name, c := range map[string]struct {
		old, race bool
	}{
		"a new file": {false, false}, "instead of the old one": {true, false},
		"a new file, race": {false, true}, "instead of the old one, race": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			rounds, refused := 1, 0
			if c.race {
				rounds = effort.Times(300, 600, 10_000)
			}
			path := filepath.Join(resources.TempDir(t), "f")
			theirs, take := path+".theirs", os.Link // fails if the name is taken
			if c.old {
				take = os.Rename
			}
			for range rounds {
				if c.old {
					require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
				}
				require.NoError(t, os.WriteFile(theirs, []byte(text), 0o666))
				taken := make(chan error, 1)
				err := save(before("publish", func() {
					if c.race {
						go func() { taken <- take(theirs, path) }()
					} else {
						taken <- take(theirs, path)
					}
				}), path, filterWith("new"))
				if <-taken == nil {
					got, readErr := os.ReadFile(path)
					require.NoError(t, readErr)
					require.Equal(t, text, string(got), "Save returned %v", err)
				} else {
					require.NoError(t, err)
				}
				if err != nil {
					require.ErrorIs(t, err, fs.ErrExist)
					refused++
				}
				requireNoLeftover(t, path)
				require.NoError(t, os.Remove(path))
				os.Remove(theirs)
			}
			require.True(t, c.race || refused == 1)
			t.Logf("%d of %d Saves were too late", refused, rounds)
		})
	}
	// A file that is gone is no obstacle.
	path := filepath.Join(resources.TempDir(t), "f")
	require.NoError(t, Save(path, filterWith("old")))
	require.NoError(t, Save(path, slow(filterWith("new"), func() { require.NoError(t, os.Remove(path)) })))
	require.True(t, loaded(t, path).ContainsString("new"))
}
