package main

import (
	"io"
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
