package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
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

// TestDedupIsSequential: output and kept filter are those of one key after the other, in filters so
// full that many keys are dropped.
func TestDedupIsSequential(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 50_000 {
		fmt.Fprintln(&text, rng.IntN(30_000))
	}
	for _, s := range slices.Concat(bloom.Strategies(), filterfile.Strategies()) {
		f, err := bloom.New(30_000, 0.3, bloom.WithStrategy(s))
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
			args := []string{"dedup", "-n", "30000", "-p", "0.3", "-s", s.Name(), "--filter", path}
			if !s.NeedsKey() {
				args = append(args, "--hash", "murmur3")
			}
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
		if status != statusOverfull || out.String() != want.String() || !strings.Contains(said.String(), "line 201: overfull: a new key") {
			t.Errorf("%s: status %d, %d lines, %s", name, status, strings.Count(out.String(), "\n"), &said)
		}
	}
}
