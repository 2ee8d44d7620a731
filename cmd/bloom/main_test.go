package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// expectRun runs the program and returns its output.
func expectRun(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &out, &errOut); got != want {
		t.Errorf("%q: status %d, want %d: %s", args, got, want, errOut.String())
	}
	return out.String(), errOut.String()
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A fullDisk has room for some bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errors.New("the disk is full")
	}
	return n, nil
}

// TestFullDisk: each command that prints reports a full disk once and returns status 2, whether the
// first byte or the last has no room.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bloom")
	f := bloom.MustNew(100, 0.01)
	f.AddString("apple")
	if err := persist.Save(path, f); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"--help", "", "check --help", "help input", "completion bash", "__complete nothing",
		"check FILE", "check -v FILE", "check -c FILE", "check -c FILE -k pear", "check -c -v FILE -k apple", "dedup",
		"info FILE", "info --json FILE", "size -n 100", "size -n 100 --json",
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
	}
}

// TestControlCharacters: names of files and words of the command line are printed without control
// characters, which would control the terminal.
func TestControlCharacters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED on Windows, which has no such names: that they are printed without control characters")
	}
	name := filepath.Join(t.TempDir(), "a\x1b[2J\nb.bloom")
	expectRun(t, statusFound, "build", "-n", "10", "-o", name, os.DevNull)
	for _, args := range [][]string{
		{"info", name}, {"build", "-n", "10", "-o", name, os.DevNull}, {"add", name + "missing"}, {"dedup", name + "missing"}, {"nonsense\x1b[2J\xff"}, {"size", "-n", "\x1b[2J"},
	} {
		var out, said bytes.Buffer
		run(t.Context(), args, nil, &out, &said)
		if text := out.String() + said.String(); !strings.Contains(text, `\x1b[2J`) || strings.Contains(text, "\x1b") || !utf8.ValidString(text) {
			t.Errorf("%q: %q", args, text)
		}
	}
}

// TestFullForeignFilter: add and union warn of a full filter whose file does not say for how many keys it is.
func TestFullForeignFilter(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.bin"), filepath.Join(dir, "b.bloom")
	input := writeFile(t, []byte(strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "\n")))
	expectRun(t, statusFound, "build", "--format", "guava", "-n", "2", "-o", path, "-k", "a")
	if _, said := expectRun(t, statusFound, "add", "-q", path, "-k", "a"); said != "" {
		t.Errorf("not full: %s", said)
	}
	_, added := expectRun(t, statusFound, "add", "-q", path, input)
	_, united := expectRun(t, statusFound, "union", "-q", "-o", other, path)
	for _, said := range []string{added, united} {
		if !strings.HasPrefix(said, "bloom: warning: the filter holds ") || strings.Count(said, "\n") != 1 {
			t.Errorf("%q", said)
		}
	}
}
