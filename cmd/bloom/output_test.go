package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// A fullDisk takes so many bytes and no more.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errors.New("the disk is full")
	}
	return n, nil
}

// TestFullDisk: whatever prints says so, once, and ends with 2 if it cannot, be it at the
// first byte or at the last.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bloom")
	f := bloom.MustNew(100, 0.01)
	f.AddString("apple")
	if err := persist.Save(path, f); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"--help", "", "check --help", "help status", "completion bash", "__complete nothing",
		"check FILE", "check -v FILE", "check -c FILE", "check -c FILE -k pear", "check -c -v FILE -k apple", "dedup",
		"info FILE", "info --json FILE", "size -n 100", "size -n 100 --json", "man",
		"build -n 100 -o -", "union -o - FILE", "convert --format text -o - FILE",
	} {
		command := strings.Fields(strings.ReplaceAll(args, "FILE", path))
		stdin := func() *strings.Reader { return strings.NewReader("apple\npear\n") }
		var whole, errOut bytes.Buffer
		run(t.Context(), command, stdin(), &whole, &errOut)
		if whole.Len() == 0 {
			t.Fatalf("%s prints nothing; %s", args, &errOut)
		}
		for _, room := range []int{0, whole.Len() - 1} {
			errOut.Reset()
			status := run(t.Context(), command, stdin(), &fullDisk{room}, &errOut)
			if status != statusError || strings.Count(errOut.String(), "the disk is full\n") != 1 {
				t.Errorf("%s with room for %d of %d bytes: status %d, %q", args, room, whole.Len(), status, &errOut)
			}
		}
		if status := run(t.Context(), command, stdin(), &fullDisk{whole.Len()}, &errOut); status == statusError {
			t.Errorf("%s with room for all: status %d, %q", args, status, &errOut)
		}
	}
}
