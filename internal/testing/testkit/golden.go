package testkit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// Golden compares got with a file and returns the file's content. With -update it writes the file first.
func Golden(t testing.TB, path string, got []byte) []byte {
	t.Helper()
	return golden(t, path, got, *Update)
}

// Frozen is Golden for bytes that must never change: -update writes a missing file, and appends to a file whose content
// is the beginning of got. If the file differs in another way, correct the code, never the file.
func Frozen(t testing.TB, path string, got []byte) []byte {
	t.Helper()
	before, err := os.ReadFile(path)
	return golden(t, path, got, *Update && (errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(got, before)))
}

func golden(t testing.TB, path string, got []byte, write bool) []byte {
	t.Helper()
	if write {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		at := 0
		for at < min(len(want), len(got)) && want[at] == got[at] {
			at++
		}
		near := func(data []byte) []byte { return data[max(0, min(at-20, len(data))):min(at+60, len(data))] }
		t.Fatalf("%s: %d bytes, want %d; they differ at byte %d: %q, want %q", path, len(got), len(want), at, near(got), near(want))
	}
	return want
}
