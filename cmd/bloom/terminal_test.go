package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed3447c163/bloom/persist"
)

// TestNothingMovesTheTerminal: what files and folders say of themselves is shown without its
// control characters.
func TestNothingMovesTheTerminal(t *testing.T) {
	dir := mappedDir(t)
	clean := func(text string) {
		t.Helper()
		if strings.ContainsAny(text, "\x1b\a\r\u009b") || !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	}
	path := filepath.Join(dir, "hostile.map")
	file, err := persist.Open(path, 100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	// Whoever forges a header can give the strategy any name, and has the checksums right.
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := forgeStrategy(raw, "\x1b[2J\x1b]0;own\a")
	path += ".forged"
	if err := os.WriteFile(path, forged, 0o600); err != nil {
		t.Fatal(err)
	}
	_, said := expectRun(t, statusError, "info", path)
	clean(said)
	if !strings.Contains(said, `\x1b[2J`) {
		t.Errorf("the strategy is not shown: %q", said)
	}

	// Names of files, as *.bloom gives them.
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED on Windows, which has no such names: that names of files are shown without control characters")
	}
	good := filepath.Join(dir, "a\x1b[2J\nb.bloom")
	expectRun(t, statusFound, "build", "-n", "10", "-o", good, os.DevNull)
	out, _ := expectRun(t, statusFound, "info", good)
	clean(out)
	if !strings.Contains(out, `a\x1b[2J\nb.bloom`) {
		t.Errorf("%q", out)
	}
	for _, args := range [][]string{
		{"build", "-n", "10", "-o", good, os.DevNull}, {"info", good + "missing"}, {"add", good + "missing"},
		{"dedup", good + "missing"}, {"nonsense\x1b[2J"}, {"size", "-n", "\x1b[2J"}, {"info", dir},
	} {
		_, said := expectRun(t, statusError, args...)
		clean(said)
	}
}

// forgeStrategy puts the name of another strategy into a mapped file's header, and the
// right checksums.
func forgeStrategy(file []byte, name string) []byte {
	file = bytes.Clone(file)
	scheme := file[64:192] // names and all
	scheme[13] = byte(len(name))
	clear(scheme[48:])
	copy(scheme[48:], name+"murmur3")
	seal := func(header []byte, table *crc32.Table) { // of all but the checksum's own place
		binary.LittleEndian.PutUint32(header[8:], crc32.Update(crc32.Checksum(header[:8], table), table, header[12:]))
	}
	seal(scheme, crc32.IEEETable)
	seal(file[:4096], crc32.MakeTable(crc32.Castagnoli))
	return file
}

// TestLinesEnd: every line of what is printed ends in a newline, whatever a file says.
func TestLinesEnd(t *testing.T) {
	dir := t.TempDir()
	overfull := filepath.Join(dir, "overfull")
	keys := filepath.Join(dir, "keys")
	var text []byte
	for i := range 1000 {
		text = fmt.Appendln(text, i)
	}
	if err := os.WriteFile(keys, text, 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, statusFound, "build", "-n", "10", "-o", overfull, keys)
	for _, format := range formatNames() {
		path := filepath.Join(dir, format)
		expectRun(t, statusFound, "build", "-n", "10", "-o", path, "--format", format, os.DevNull)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if path == keys {
			continue
		}
		for _, args := range [][]string{{"info", path}, {"info", "--json", path}} {
			if out, _ := expectRun(t, statusFound, args...); !strings.HasSuffix(out, "\n") || strings.HasSuffix(out, "\n\n") {
				t.Errorf("%q: %q", args, out)
			}
		}
	}
	for _, args := range [][]string{{"size", "-n", "10"}, {"--version"}, {"--help"}} {
		if out, _ := expectRun(t, statusFound, args...); !strings.HasSuffix(out, "\n") {
			t.Errorf("%q: %q", args, out)
		}
	}
}
