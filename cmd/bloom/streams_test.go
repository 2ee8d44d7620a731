package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readers divide their input differently.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":         func(r io.Reader) io.Reader { return r },
	"bytes":         iotest.OneByteReader,
	"halves":        iotest.HalfReader,
	"end with data": iotest.DataErrReader,
}

// TestManyFiles: there are more files than chunks.
func TestManyFiles(t *testing.T) {
	path := writeFile(t, []byte("apple\npear"))
	args := append([]string{"dedup", "-n", "10"}, slices.Repeat([]string{path}, 20)...)
	if got, said := expectRun(t, statusFound, args...); got != "apple\npear\n" || !strings.Contains(said, "40 lines read") {
		t.Errorf("%q, %s", got, said)
	}
}

// TestStreams: dedup prints a line before the next one arrives. The first line may begin as a packed
// file does.
func TestStreams(t *testing.T) {
	for _, first := range []string{"a", "(", "\x1f", ""} {
		inRead, in := io.Pipe()
		out, outWrite := io.Pipe()
		ended := make(chan int)
		go func() { ended <- run(t.Context(), []string{"dedup", "-n", "1000"}, inRead, outWrite, io.Discard) }()
		for _, line := range []string{first + "\n", "second\n", "third\n"} {
			io.WriteString(in, line+line)
			got := make([]byte, len(line))
			if _, err := io.ReadFull(out, got); err != nil || string(got) != line {
				t.Fatalf("%q, %v, want %q", got, err, line)
			}
		}
		in.Close()
		if status := <-ended; status != statusFound {
			t.Errorf("status %d", status)
		}
	}
}

// TestNotLinesInAnyCommand: every command that reads keys refuses a file that is not lines, and prints nothing.
func TestNotLinesInAnyCommand(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain.bloom")
	expectRun(t, statusFound, "build", "-n", "100", "-o", plain, "-k", "a")
	filter, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range newRoot(&env{}).Commands() {
		if c.Flags().Lookup("null") == nil {
			continue
		}
		args := append([]string{c.Name()}, map[string][]string{"build": {"-n", "100", "--force", "-o", plain}, "add": {plain}, "check": {"-v", plain}}[c.Name()]...)
		for want, file := range map[string]string{"text in UTF-16": "\xff\xfea\x00\n\x00", "packed by zlib": "x\x9c\n", "a filter": string(filter)} {
			path := writeFile(t, []byte(file))
			if out, said := expectRun(t, statusError, append(args, path)...); out != "" || !strings.HasPrefix(said, "bloom: "+path+": "+want+", want text, gzip or zstd: ") {
				t.Errorf("%s of %s: %q, %s", c.Name(), want, out, said)
			}
			tried++
		}
	}
	if after, _ := os.ReadFile(plain); string(after) != string(filter) || tried < 12 {
		t.Errorf("another filter, or only %d tried", tried)
	}
}
