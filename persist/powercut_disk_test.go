package persist

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A model of a disk that loses power. What a program did to it is a sequence of
// steps; a power cut keeps some of the steps before it, and the rules are the
// weakest that a file system may have:
//
//   - A write to a file that was synced afterwards is kept. Of the writes since the
//     last sync, any may be kept, kept in part, or leave zeros in its place.
//   - A name that was given or taken away is kept once the folder was synced. Of
//     those changes since, any may be kept, in any combination.
//
// The model does not know that path.unfinished is written before it is renamed, nor
// that rename is one step: it only has what was asked for.

type stepKind int

const (
	stepWrite   stepKind = iota // data to a file
	stepSync                    // of a file
	stepName                    // gives a file a name, in place of another
	stepUnname                  // takes a name away
	stepRename                  // both at once: a name goes from one to another
	stepSyncDir                 // of the folder
)

type step struct {
	kind     stepKind
	file     int // which one
	data     []byte
	name, to string
}

// A recorder is a fileSystem that only notes the steps.
type recorder struct {
	links bool // a file gets its name by a link, on a file system that cannot rename to a free name
	steps []step
	files int
}

type recordedFile struct {
	disk *recorder
	file int
	name string
}

func (d *recorder) do(s step) { d.steps = append(d.steps, s) }

func (d *recorder) create(path string) (tempFile, error) {
	d.files++
	f := &recordedFile{d, d.files, path + unfinished}
	d.do(step{kind: stepName, file: f.file, name: f.name})
	return f, nil
}

func (d *recorder) publish(t tempFile, path string) error {
	f := t.(*recordedFile)
	if !d.links {
		d.do(step{kind: stepRename, file: f.file, name: f.name, to: path})
		return nil
	}
	d.do(step{kind: stepName, file: f.file, name: path})
	d.do(step{kind: stepUnname, name: f.name})
	return nil
}

func (d *recorder) discard(tempFile) error { panic("nothing fails here") }

func (d *recorder) syncDir(string) error { d.do(step{kind: stepSyncDir}); return nil }

func (f *recordedFile) Write(p []byte) (int, error) {
	f.disk.do(step{kind: stepWrite, file: f.file, data: bytes.Clone(p)})
	return len(p), nil
}

func (f *recordedFile) replaces() *os.File { return nil }

func (f *recordedFile) inherit() error { return nil }

func (f *recordedFile) Sync() error {
	f.disk.do(step{kind: stepSync, file: f.file})
	return nil
}

func (f *recordedFile) allocate(_, size int64) error {
	_, err := f.Write(make([]byte, size))
	return err
}

// A disk is what is there after a power cut: for each name the bytes of its file.
type disk map[string]string

// powerCut returns every disk that may be there if the power is cut after the
// given steps.
func powerCut(before disk, steps []step) []disk {
	names := map[string]int{} // which file has it; those of before have numbers below 0
	contents := map[int][]string{}
	for name, data := range before {
		id := -1 - len(names)
		names[name], contents[id] = id, []string{data}
	}

	// What each file may hold.
	synced, pending := map[int]string{}, map[int][][]byte{}
	for _, s := range steps {
		switch s.kind {
		case stepWrite:
			pending[s.file] = append(pending[s.file], s.data)
		case stepSync:
			synced[s.file] += string(bytes.Join(pending[s.file], nil))
			pending[s.file] = nil
		}
	}
	for _, s := range steps {
		if s.file > 0 {
			contents[s.file] = survivors(synced[s.file], pending[s.file])
		}
	}

	// Which names there may be: all changes up to the last sync of the folder, and
	// any of those after it.
	var changes []step
	certain := 0
	for _, s := range steps {
		switch s.kind {
		case stepName, stepUnname, stepRename:
			changes = append(changes, s)
		case stepSyncDir:
			certain = len(changes)
		}
	}
	var disks []disk
	for kept := range 1 << (len(changes) - certain) {
		now := maps.Clone(names)
		for i, c := range changes {
			if i >= certain && kept>>(i-certain)&1 == 0 {
				continue
			}
			switch c.kind {
			case stepName:
				now[c.name] = c.file
			case stepUnname:
				delete(now, c.name)
			case stepRename:
				delete(now, c.name)
				now[c.to] = c.file
			}
		}
		disks = append(disks, combine(now, contents)...)
	}
	return disks
}

// survivors returns what a file may hold whose last writes were not synced.
func survivors(synced string, pending [][]byte) []string {
	found := map[string]bool{synced: true}
	sofar := synced
	for _, data := range pending {
		text := string(data)
		for _, part := range []string{
			text[:1], text[:len(text)/2], text[:len(text)-1], text,
			string(make([]byte, len(text))),                        // length without data
			text[:len(text)/2] + string(make([]byte, len(text)/2)), // or half
			string(make([]byte, len(text)/2)) + text[len(text)/2:],
		} {
			found[sofar+part] = true
			found[sofar+string(make([]byte, len(text)))+part] = true // a later write without the earlier
		}
		sofar += text
	}
	return slices.Collect(maps.Keys(found))
}

// combine returns the disks in which each name's file holds one of its contents.
func combine(names map[string]int, contents map[int][]string) []disk {
	disks := []disk{{}}
	for name, file := range names {
		var next []disk
		for _, d := range disks {
			for _, data := range contents[file] {
				d := maps.Clone(d)
				d[name] = data
				next = append(next, d)
			}
		}
		disks = next
	}
	return disks
}

// lay makes a real folder of a disk and returns it.
func lay(t *testing.T, dir string, d disk) {
	t.Helper()
	for name, data := range d {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// cut cuts the power after every number of steps, and gives every disk that may be
// left, laid out in a folder, to look.
func cut(t *testing.T, before disk, steps []step, look func(dir string, done bool)) (cuts, disks int) {
	t.Helper()
	for n := range len(steps) + 1 {
		for _, d := range powerCut(before, steps[:n]) {
			dir, err := os.MkdirTemp(tempDir(t), "")
			require.NoError(t, err)
			lay(t, dir, d)
			look(dir, n == len(steps))
			if runtime.GOOS != "windows" { // where a mapped file cannot be removed yet
				require.NoError(t, os.RemoveAll(dir)) // there are hundreds
			}
			disks++
		}
		cuts++
	}
	return cuts, disks
}
