package persist

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

// A lateDisk lets something happen just before a Save, or an Open that makes its
// file, asks for its temporary file, and with it for the lock.
type lateDisk struct {
	osFiles
	before func()
}

func (d lateDisk) create(path string) (tempFile, error) {
	d.before()
	return d.osFiles.create(path)
}

// A slowFilter lets something begin while it is being written.
type slowFilter struct {
	*bloom.BloomFilter
	meanwhile func()
}

func (f slowFilter) WriteTo(w io.Writer) (int64, error) {
	f.meanwhile()
	return f.BloomFilter.WriteTo(w)
}

// A Save and an Open want the same new path at the same time: one of them is
// refused, and nothing is lost that the other has been told of, a key that was added
// or a filter that was saved.
func TestSaveRacesOpen(t *testing.T) {
	const n, p = 1000, 1e-6
	saved := filterWith("saved")
	scheme := saved.Scheme()
	page, err := encodeHeader(scheme)
	require.NoError(t, err)
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
	background := func(call func() error) chan error {
		done := make(chan error, 1)
		go func() { done <- call() }()
		return done
	}

	// Each forces one order, and returns what Save and Open said.
	races := map[string]func(path string) (save_, open error){
		"Open between Save's beginning and its lock": func(path string) (save_, open error) {
			save_ = save(lateDisk{before: func() { open = openAndAdd(path) }}, path, saved)
			return
		},
		"Save between Open's look and its lock": func(path string) (save_, open error) {
			open = create(lateDisk{before: func() { save_ = Save(path, saved) }}, path, page, scheme)
			if open == errMade {
				open = openAndAdd(path) // as Open does then
			}
			return
		},
		"Open while Save writes": func(path string) (save_, open error) {
			var opened chan error
			save_ = Save(path, slowFilter{saved, func() { opened = background(func() error { return openAndAdd(path) }) }})
			return save_, <-opened
		},
		"Save while Save writes, Open in between": func(path string) (save_, open error) {
			var again, opened chan error
			save_ = Save(path, slowFilter{saved, func() {
				opened = background(func() error { return openAndAdd(path) })
				again = background(func() error { return Save(path, saved) })
			}})
			return errors.Join(save_, <-again), <-opened
		},
		"both at once": func(path string) (save_, open error) {
			opened := background(func() error { return openAndAdd(path) })
			save_ = Save(path, saved)
			return save_, <-opened
		},
		"both at once, Open in front": func(path string) (save_, open error) {
			begun := make(chan error, 1)
			open = create(lateDisk{before: func() { go func() { begun <- Save(path, saved) }() }}, path, page, scheme)
			if open == nil || open == errMade {
				open = openAndAdd(path)
			}
			return <-begun, open
		},
	}
	rounds := effort.Times(10, 20, 1000)
	for name, race := range races {
		t.Run(name, func(t *testing.T) {
			byOpen := 0
			for range rounds {
				path := filepath.Join(tempDir(t), "f")
				saveErr, openErr := race(path)
				switch {
				case openErr == nil && saveErr != nil:
					byOpen++
					require.ErrorIs(t, saveErr, fs.ErrExist)
					f, err := Open(path, n, p)
					require.NoError(t, err, "the file that keys were added to is gone")
					require.True(t, f.ContainsString("added"), "a key is lost")
					require.NoError(t, f.Close())
				case openErr != nil && saveErr == nil:
					require.ErrorIs(t, openErr, bloom.ErrCorrupt)
					require.ErrorContains(t, openErr, "it holds a Bloom filter")
					f, err := Load(path)
					require.NoError(t, err, "the saved filter is gone")
					require.True(t, f.Equal(saved))
				default:
					t.Fatalf("Save: %v, Open: %v, want one error", saveErr, openErr)
				}
				requireNoLeftover(t, path)
			}
			t.Logf("%d races, %d won by Open, nothing lost", rounds, byOpen)
		})
	}
}

// A rivalDisk starts another program just before the file gets its name.
type rivalDisk struct {
	osFiles
	rival func()
}

func (d rivalDisk) publish(f tempFile, path string) error {
	d.rival()
	return d.osFiles.publish(f, path)
}

// A program that knows of no lock gives the name to its own file at the same time as Save: it
// keeps the name, and Save returns an error if its own file would have replaced that one.
func TestSaveRacesAnotherProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: Windows cannot compare and replace in one step")
	}
	text := []byte("somebody's only copy")
	for name, before := range map[string]bool{"a new file": false, "instead of the old one": true} {
		t.Run(name, func(t *testing.T) {
			rounds, refused := effort.Times(300, 2000, 100_000), 0
			path := filepath.Join(tempDir(t), "f")
			theirs, take := path+".theirs", os.Link // fails if the name is taken
			if before {
				take = os.Rename
			}
			for range rounds {
				if before {
					require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
				}
				require.NoError(t, os.WriteFile(theirs, text, 0o666))
				taken := make(chan error, 1)
				err := save(rivalDisk{rival: func() { go func() { taken <- take(theirs, path) }() }}, path, filterWith("new"))
				if <-taken == nil {
					got, readErr := os.ReadFile(path)
					require.NoError(t, readErr)
					require.Equal(t, string(text), string(got), "Save returned %v", err)
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
			t.Logf("%d of %d Saves were too late", refused, rounds)
		})
	}
}

// A program that knows of no lock puts a file where Save is about to put its own:
// Save has not seen that one, and does not replace it.
func TestSaveReplacesOnlyWhatItHasSeen(t *testing.T) {
	for name, before := range map[string]bool{"a new file": false, "in place of the old one": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(tempDir(t), "f")
			if before {
				if runtime.GOOS == "windows" {
					t.Skip("NOT TESTED: another program, for Windows does not let it replace a file that Save has open")
				}
				require.NoError(t, Save(path, filterWith("old")))
			}
			text := []byte("somebody's only copy")
			err := Save(path, slowFilter{filterWith("new"), func() {
				require.NoError(t, os.WriteFile(path+".theirs", text, 0o666))
				require.NoError(t, os.Rename(path+".theirs", path))
			}})
			require.ErrorIs(t, err, fs.ErrExist)
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(text, got))
			requireNoLeftover(t, path)
		})
	}
	// One that is gone is in nobody's way.
	path := filepath.Join(tempDir(t), "f")
	require.NoError(t, Save(path, filterWith("old")))
	require.NoError(t, Save(path, slowFilter{filterWith("new"), func() { require.NoError(t, os.Remove(path)) }}))
	got, err := Load(path)
	require.NoError(t, err)
	require.True(t, got.ContainsString("new"))
}
