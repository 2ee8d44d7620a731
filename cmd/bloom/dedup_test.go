package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
)

// TestDedupStreams: a line is printed before the next one arrives.
func TestDedupStreams(t *testing.T) {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ended := make(chan int)
	go func() { ended <- run(t.Context(), []string{"dedup", "-n", "1000"}, inRead, outWrite, io.Discard) }()
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

// TestDedupEndsWithItsOutput: after a write error it does not wait for input.
func TestDedupEndsWithItsOutput(t *testing.T) {
	inRead, in := io.Pipe()
	defer in.Close()
	go io.WriteString(in, "key\n") // and no end
	var said bytes.Buffer
	if status := run(t.Context(), []string{"dedup", "-n", "1000"}, inRead, &fullDisk{}, &said); status != statusError || !strings.Contains(said.String(), "the disk is full") {
		t.Errorf("status %d, %s", status, &said)
	}
}

// TestDedupPrintsWhatCame: the lines before a read error are printed.
func TestDedupPrintsWhatCame(t *testing.T) {
	var out, said bytes.Buffer
	in := io.MultiReader(strings.NewReader("a\nb\na\ncut"), iotest.ErrReader(errors.New("broken")))
	if status := run(t.Context(), []string{"dedup", "-n", "1000"}, in, &out, &said); status != statusError || out.String() != "a\nb\n" {
		t.Errorf("status %d, %q, %s", status, &out, &said)
	}
}

// TestDedupOnAnyNumberOfCores: output and kept filter are those of one key after the other, in
// filters so full that many keys are dropped.
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
		if err := save(&env{ctx: t.Context()}, path, f, native); err != nil {
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
				args := []string{"dedup", "-n", "5000", "-p", "0.1", "-s", s.Name(), "--overfull", "--filter", path}
				status := run(t.Context(), args, pieces(strings.NewReader(text.String())), &out, &said)
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

// TestParallelAdderIsSequential for every strategy, size and chunk.
func TestParallelAdderIsSequential(t *testing.T) {
	for _, s := range append(slices.Clone(strategies), bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8) {
		for _, n := range []uint64{1, 10, 3000, 100_000} {
			for _, workers := range []int{1, 2, 5} {
				want, err := bloom.New(n, 0.01, bloom.WithStrategy(s))
				if err != nil {
					t.Fatal(err)
				}
				got, err := want.Scheme().Filter()
				if err != nil {
					t.Fatal(err)
				}
				a := newParallelAdder(got, workers)
				defer a.close()
				rng := rand.New(rand.NewPCG(1, 2))
				for round := range 12 {
					keys := make([][]byte, []int{1, 2, 64, 1000, maxChunk}[round%5])
					for i := range keys {
						keys[i] = fmt.Append(nil, rng.IntN(20_000))
					}
					var c chunk
					if rest := c.fill(&input{}, keys); len(rest) > 0 {
						t.Fatalf("%d keys are left of %d", len(rest), len(keys))
					}
					a.start(&c)
					<-c.done
					for i, key := range keys {
						if should := want.Add(key); c.added[i] != should {
							t.Fatalf("%v, n = %d, %d workers, round %d: key %d: %v, want %v", s, n, workers, round, i, c.added[i], should)
						}
					}
				}
				if !got.Equal(want) {
					t.Fatalf("%v, n = %d, %d workers: other bits", s, n, workers)
				}
			}
		}
	}
}

// TestMissing compares the expected number of dropped lines with the true one.
func TestMissing(t *testing.T) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		for _, before := range []int{0, 5000} {
			f := bloom.MustNew(10_000, 0.001, bloom.WithStrategy(s))
			for i := range before {
				f.AddString("before " + strconv.Itoa(i))
			}
			promised := promise{scheme: f.Scheme(), before: f.Stats().EstimatedCount}
			if got := promised.missing(f); got != 0 {
				t.Errorf("%v missing without keys", got)
			}
			const lines = 100_000
			for i := range lines {
				if f.AddString(strconv.Itoa(i)) {
					promised.added++
				}
			}
			got, want := promised.missing(f), float64(lines-promised.added)
			if sigma := math.Sqrt(want); math.Abs(got-want) > 0.05*want+5*sigma {
				t.Errorf("%v, %d before: %.0f of %d lines, %.0f are missing", s, before, got, lines, want)
			}
		}
	}
	full, err := bloom.NewWithParams(bloom.Params{M: 64, K: 1, N: math.MaxUint64, P: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		full.AddString(strconv.Itoa(i))
	}
	promised := promise{scheme: full.Scheme(), before: math.MaxUint64, added: 5}
	if got := showMissing(promised.missing(full)); got != "an unknown number" || promised.left() != 0 {
		t.Error(got, promised.left())
	}
}

// TestStopsAtTheSameKey, whatever the pieces of the input.
func TestStopsAtTheSameKey(t *testing.T) {
	var keys, want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&keys, "%d\n%d\n", i, i/2)
	}
	for i := range 100 {
		fmt.Fprintln(&want, i)
	}
	for name, pieces := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		var out, said bytes.Buffer
		status := run(t.Context(), []string{"dedup", "-n", "100", "-p", "1e-9"}, pieces(strings.NewReader(keys.String())), &out, &said)
		if status != statusOverfull || out.String() != want.String() || !strings.Contains(said.String(), "line 201 has a new key") {
			t.Errorf("%s: status %d, %d lines, %s", name, status, strings.Count(out.String(), "\n"), &said)
		}
	}
}

// BenchmarkDedup reports lines per second. -cpu 1,2 compares one core and two.
func BenchmarkDedup(b *testing.B) {
	const lines = 2_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range lines {
		fmt.Fprintf(&text, "https://www.example.com/articles/%d.html?from=here\n", rng.IntN(lines*2/3))
	}
	for _, strategy := range []string{"blocked", "double-hashing"} {
		b.Run("strategy="+strategy, func(b *testing.B) {
			var errs bytes.Buffer
			for b.Loop() {
				if status := run(b.Context(), []string{"dedup", "-s", strategy}, strings.NewReader(text.String()), io.Discard, &errs); status != statusFound {
					b.Fatal(errs.String())
				}
			}
			b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
