package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

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

// TestDedupIsSequential: output and kept filter are those of one key after the other, in filters so
// full that many keys are dropped.
func TestDedupIsSequential(t *testing.T) {
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
		for name, pieces := range readers {
			path := filepath.Join(t.TempDir(), "seen.bloom")
			var out, said bytes.Buffer
			args := []string{"dedup", "-n", "5000", "-p", "0.1", "-s", s.Name(), "--overfull", "--filter", path}
			status := run(t.Context(), args, pieces(strings.NewReader(text.String())), &out, &said)
			if status != statusFound || out.String() != want.String() {
				t.Errorf("%v, %s: status %d, %d bytes, want %d: %s", s, name, status, out.Len(), want.Len(), &said)
			}
			if kept, err := persist.Load(path, bloom.WithStrategy(s)); err != nil || !kept.Equal(f) {
				t.Errorf("%v, %s: %v, another filter is kept", s, name, err)
			}
		}
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
	for name, pieces := range readers {
		var out, said bytes.Buffer
		status := run(t.Context(), []string{"dedup", "-n", "100", "-p", "1e-9"}, pieces(strings.NewReader(keys.String())), &out, &said)
		if status != statusOverfull || out.String() != want.String() || !strings.Contains(said.String(), "line 201 has a new key") {
			t.Errorf("%s: status %d, %d lines, %s", name, status, strings.Count(out.String(), "\n"), &said)
		}
	}
}

// TestMostLost: the bound holds. In filters with up to twice their n keys it is at most six times
// the number of lost keys.
func TestMostLost(t *testing.T) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		for _, lines := range []int{10_000, 20_000, 80_000} {
			f := bloom.MustNew(10_000, 0.01, bloom.WithStrategy(s))
			added := 0
			for i := range lines {
				if f.AddString(strconv.Itoa(i)) {
					added++
				}
			}
			got, lost := mostLost(int64(added), f.Stats().EstimatedFalsePositiveRate), float64(lines-added)
			if sigma := math.Sqrt(lost); got < lost-5*sigma || lines <= 20_000 && got > 6*(lost+5*sigma) {
				t.Errorf("%v: %d of %d lines are lost, at most %.0f expected", s, lines-added, lines, got)
			}
		}
	}
}

// BenchmarkDedup reports lines per second.
func BenchmarkDedup(b *testing.B) {
	const lines = 2_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range lines {
		fmt.Fprintf(&text, "https://www.example.com/articles/%d.html?from=here\n", rng.IntN(lines*2/3))
	}
	for b.Loop() {
		if status := run(b.Context(), []string{"dedup", "-q"}, strings.NewReader(text.String()), io.Discard, os.Stderr); status != statusFound {
			b.Fatal(status)
		}
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
