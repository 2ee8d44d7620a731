package persist

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A model of a disk that loses power, seen through the name "f". A program's work is a sequence of
// steps, and the rules are the weakest that a file system may have:
//
//   - Writes before a sync of the file are kept. Of the later writes, each may be kept, kept in
//     part, or leave zeros.
//   - Changes of the name before a sync of the folder are kept. Of the later ones, any may be kept.
type step struct {
	kind stepKind
	file int // none is 0
	data []byte
}

type stepKind int

const (
	stepWrite   stepKind = iota // data to a file
	stepSync                    // of a file
	stepName                    // the file becomes "f"
	stepSyncDir                 // of the folder
)

// powerCut returns what "f" may hold if the power is cut after the steps; nil means no file. old is
// what it held before.
func powerCut(old []byte, steps []step) (contents [][]byte) {
	owners := []int{0} // the files that "f" may be; a sync of the folder leaves the last one
	for _, s := range steps {
		switch s.kind {
		case stepName:
			owners = append(owners, s.file)
		case stepSyncDir:
			owners = owners[len(owners)-1:]
		}
	}
	seen := map[int]bool{}
	for _, owner := range owners {
		if seen[owner] {
			continue
		}
		seen[owner] = true
		if owner == 0 {
			contents = append(contents, old)
			continue
		}
		synced, pending := []byte{}, [][]byte{}
		for _, s := range steps {
			if s.file != owner {
				continue
			}
			switch s.kind {
			case stepWrite:
				pending = append(pending, s.data)
			case stepSync:
				synced, pending = append(synced, bytes.Join(pending, nil)...), nil
			}
		}
		contents = append(contents, survivors(synced, pending)...)
	}
	return contents
}

// survivors returns what a file may hold whose last writes were not synced.
func survivors(synced []byte, pending [][]byte) [][]byte {
	found := [][]byte{synced}
	for _, data := range pending {
		half := len(data) / 2
		zeros := make([]byte, len(data))
		for _, part := range [][]byte{data[:1], data[:half], data[:len(data)-1], data, zeros,
			append(bytes.Clone(data[:half]), zeros[half:]...), append(bytes.Clone(zeros[:half]), data[half:]...),
			append(zeros, data...)} { // a later write without this one
			found = append(found, append(bytes.Clone(synced), part...))
		}
		synced = append(bytes.Clone(synced), data...)
	}
	return found
}

// A recorder is a fileSystem that notes the steps.
type recorder struct {
	steps []step
	files int
}

type recordedFile struct {
	disk *recorder
	file int
}

func (d *recorder) do(s step) error { d.steps = append(d.steps, s); return nil }

func (d *recorder) create(string, *os.File) (tempFile, error) {
	d.files++
	return recordedFile{d, d.files}, nil
}

func (d *recorder) publish(f tempFile, _ string, _ bool) error {
	return d.do(step{kind: stepName, file: f.(recordedFile).file})
}

func (d *recorder) discard(tempFile) {}

func (d *recorder) syncDir(string) error { return d.do(step{kind: stepSyncDir}) }

func (f recordedFile) Write(p []byte) (int, error) {
	return len(p), f.disk.do(step{kind: stepWrite, file: f.file, data: bytes.Clone(p)})
}

func (f recordedFile) inherit(*os.File) error { return nil }

func (f recordedFile) Sync() error { return f.disk.do(step{kind: stepSync, file: f.file}) }

func (f recordedFile) allocate(_, size int64) error {
	_, err := f.Write(make([]byte, size))
	return err
}

// cut cuts the power after every number of steps. It puts each possible content into a file for
// look; done is true after the last step.
func cut(t *testing.T, old []byte, steps []step, look func(path string, done bool)) {
	t.Helper()
	dir, disks := testkit.TempDir(t), 0
	for n := range len(steps) + 1 {
		for _, content := range powerCut(old, steps[:n]) {
			path := filepath.Join(dir, strconv.Itoa(disks))
			disks++
			if content != nil {
				require.NoError(t, os.WriteFile(path, content, 0o600))
			}
			look(path, n == len(steps))
			_ = os.Remove(path) // not on Windows, if it is mapped
		}
	}
	t.Logf("power cut at %d points, %d different files", len(steps)+1, disks)
}

func TestPowerCutWhileSaving(t *testing.T) {
	older := bloom.MustNew(uint64(testkit.Times(20_000, 20_000, 100_000)), 1e-6) // more than one write
	older.AddString("old")
	newer := older.Clone()
	newer.AddString("new")
	encoded, err := older.MarshalBinary()
	require.NoError(t, err)
	for _, old := range [][]byte{nil, encoded} {
		rec := &recorder{}
		for range 2 {
			require.NoError(t, save(rec, "f", newer))
		}
		cut(t, old, rec.steps, func(path string, done bool) {
			got, err := Load(path)
			switch {
			case err == nil && got.Equal(newer):
			case done:
				t.Fatalf("Save has returned, but the file is not the new one: %v", err)
			case err == nil && got.Equal(older), errors.Is(err, fs.ErrNotExist) && old == nil:
			default:
				t.Fatalf("neither old nor new: %v", err)
			}
		})
	}
}

func TestPowerCutWhileCreating(t *testing.T) {
	rec := &recorder{}
	require.NoError(t, create(rec, "f", filterWith().Scheme()))
	cut(t, nil, rec.steps, func(path string, done bool) {
		f, err := OpenReadOnly(path)
		if err == nil {
			require.Zero(t, f.Stats().EstimatedCount)
			require.NoError(t, f.Close())
		} else if done || !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	})
}
