package persist

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

func TestPowerCutWhileSaving(t *testing.T) {
	older := bloom.MustNew(uint64(effort.Times(20_000, 50_000, 100_000)), 1e-6) // more than one write
	older.AddString("old")
	newer := older.Clone()
	newer.AddString("new")
	var encoded bytes.Buffer
	_, err := older.WriteTo(&encoded)
	require.NoError(t, err)

	for _, before := range []disk{
		{},
		{"f": encoded.String()},
		{"f": encoded.String(), "f" + unfinished: "left over"},
	} {
		// A second Save follows the first, as in a program that saves now and then.
		for saves := 1; saves <= effort.Times(1, 2, 2); saves++ {
			rec := &recorder{}
			for range saves {
				require.NoError(t, save(rec, "f", newer)) // there is no file "f" here
			}
			old, new := 0, 0
			cuts, disks := cut(t, before, rec.steps, func(dir string, done bool) {
				got, err := Load(filepath.Join(dir, "f"))
				switch {
				case err == nil && got.Equal(newer):
					new++
				case done:
					t.Fatalf("Save had returned, but the file is not the new one: %v", err)
				case err == nil && got.Equal(older), errors.Is(err, fs.ErrNotExist) && before["f"] == "":
					old++
				default:
					t.Fatalf("neither old nor new: %v", err)
				}
			})
			t.Logf("%d saves, %d old files: power cut at %d points, %d disks: %d old, %d new, 0 neither", saves, len(before), cuts, disks, old, new)
		}
	}
}

func TestPowerCutWhileCreating(t *testing.T) {
	scheme := filterWith().Scheme()
	page, err := encodeHeader(scheme)
	require.NoError(t, err)
	for _, links := range []bool{false, true} {
		rec := &recorder{links: links}
		require.NoError(t, create(rec, "f", page, scheme))
		none, whole := 0, 0
		cuts, disks := cut(t, disk{}, rec.steps, func(dir string, done bool) {
			f, err := OpenReadOnly(filepath.Join(dir, "f"))
			switch {
			case err == nil:
				require.Zero(t, f.Stats().EstimatedCount)
				require.NoError(t, f.Close())
				whole++
			case errors.Is(err, fs.ErrNotExist) && !done:
				none++
			default:
				t.Fatal(err)
			}
		})
		t.Logf("power cut at %d points, %d disks: %d without the file, %d with a whole one", cuts, disks, none, whole)
	}
}

// A power cut keeps any of the sectors that were changed since the last Sync. All keys of
// before are there, and the file goes on as if the others had never been added.
func TestPowerCutWhileAdding(t *testing.T) {
	const sector, synced, keys = 512, 1000, 2000
	path := filepath.Join(tempDir(t), "f")
	f := openFile(t, path, keys, 1e-6)
	add := func(from, to uint64) []byte {
		for i := from; i < to; i++ {
			f.Add(key(i))
		}
		require.NoError(t, f.Sync())
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		return file
	}
	before, after := add(0, synced), add(synced, keys)

	rnd := rand.New(rand.NewPCG(7, 8))
	cuts, kept := effort.Times(20, 100, 1000), 0
	for range cuts {
		left := bytes.Clone(before)
		for at := 0; at < len(left); at += sector {
			if rnd.IntN(2) == 1 {
				copy(left[at:min(at+sector, len(left))], after[at:])
			}
		}
		path := filepath.Join(tempDir(t), "f")
		require.NoError(t, os.WriteFile(path, left, 0o666))
		f := openFile(t, path, keys, 1e-6)
		for i := range uint64(keys) {
			if there := f.Contains(key(i)); i < synced && !there {
				t.Fatalf("key %d was there at the last Sync and is lost", i)
			} else if i >= synced && there {
				kept++
			}
		}
		for i := range uint64(keys) {
			f.Add(key(i))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(after, got), "with all keys again, it is the file that it was")
	}
	t.Logf("%d power cuts: none of %d synced keys was ever lost, %d of %d later ones were kept", cuts, synced, kept, cuts*(keys-synced))
}

// The model finds the faults of those who save in other ways.
func TestPowerCutFindsFaults(t *testing.T) {
	data := []byte("new and whole")
	write, sync := step{kind: stepWrite, file: 1, data: data}, step{kind: stepSync, file: 1}
	begin := step{kind: stepName, file: 1, name: "f.unfinished"}
	rename, syncDir := step{kind: stepRename, file: 1, name: "f.unfinished", to: "f"}, step{kind: stepSyncDir}
	for name, test := range map[string]struct {
		steps []step
		fault bool
	}{
		"right":            {[]step{begin, write, sync, rename, syncDir}, false},
		"no sync":          {[]step{begin, write, rename, syncDir}, true},
		"sync too late":    {[]step{begin, write, rename, sync, syncDir}, true},
		"no sync of names": {[]step{begin, write, sync, rename}, true},
		"in place":         {[]step{{kind: stepName, file: 1, name: "f"}, write, sync, syncDir}, true},
		"removed before":   {[]step{begin, write, sync, {kind: stepUnname, name: "f"}, rename, syncDir}, true},
	} {
		fault := false
		for n := range len(test.steps) + 1 {
			for _, d := range powerCut(disk{"f": "old"}, test.steps[:n]) {
				done := n == len(test.steps)
				fault = fault || d["f"] != string(data) && (done || d["f"] != "old")
			}
		}
		require.Equal(t, test.fault, fault, name)
	}
}
