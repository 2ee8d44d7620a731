package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
)

// TestDedupStreams: a key is out before the next one is in.
func TestDedupStreams(t *testing.T) {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ended := make(chan int)
	go func() { ended <- run([]string{"dedup", "-n", "1000"}, inRead, outWrite, io.Discard) }()
	lines := bufio.NewReader(out)
	for i := range 100 {
		line := fmt.Sprintln("key", i)
		io.WriteString(in, line+line)
		if got, err := lines.ReadString('\n'); got != line || err != nil {
			t.Fatalf("%q, %v, want %q", got, err, line)
		}
	}
	in.Close()
	if status := <-ended; status != statusFound {
		t.Errorf("status %d", status)
	}
}

// TestDedupEndsWithItsOutput: it does not wait for input that it could not print.
func TestDedupEndsWithItsOutput(t *testing.T) {
	inRead, in := io.Pipe()
	defer in.Close()
	go io.WriteString(in, "key\n") // and no more, and no end
	var said bytes.Buffer
	if status := run([]string{"dedup", "-n", "1000"}, inRead, &fullDisk{}, &said); status != statusError || !strings.Contains(said.String(), "the disk is full") {
		t.Errorf("status %d, %s", status, &said)
	}
}

// TestDedupPrintsWhatCame: an input that breaks takes nothing from the ones before it.
func TestDedupPrintsWhatCame(t *testing.T) {
	var out, said bytes.Buffer
	in := io.MultiReader(strings.NewReader("a\nb\na\ncut"), iotest.ErrReader(errors.New("broken")))
	if status := run([]string{"dedup", "-n", "1000"}, in, &out, &said); status != statusError || out.String() != "a\nb\n" {
		t.Errorf("status %d, %q, %s", status, &out, &said)
	}
}

// TestDedupOnAnyNumberOfCores: the output is that of one key after the other, also where the
// filter is so full that it drops many, and whatever is kept is the same, too.
func TestDedupOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 50_000 {
		fmt.Fprintln(&text, rng.IntN(30_000))
	}
	for _, s := range strategies {
		f, err := bloom.New(5000, 0.1, bloom.WithStrategy(s))
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for line := range strings.Lines(text.String()) {
			if f.AddString(strings.TrimSuffix(line, "\n")) {
				want.WriteString(line)
			}
		}
		path := filepath.Join(t.TempDir(), "want.bloom")
		if err := save(&env{}, path, f, native); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, cores := range []int{1, 2, 7} {
			for name, pieces := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
			} {
				runtime.GOMAXPROCS(cores)
				path := filepath.Join(t.TempDir(), "seen.bloom")
				var out, said bytes.Buffer
				status := run([]string{"dedup", "-n", "5000", "-p", "0.1", "-s", s.Name(), "--overfull=warn", "--filter", path}, pieces(strings.NewReader(text.String())), &out, &said)
				if status != statusFound || out.String() != want.String() {
					t.Errorf("%v on %d cores, %s: status %d, %d bytes, want %d: %s", s, cores, name, status, out.Len(), want.Len(), &said)
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, kept) {
					t.Errorf("%v on %d cores, %s: %v, another filter is kept", s, cores, name, err)
				}
			}
		}
	}
}
