package main

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/compare/internal/environment"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestQuartiles(t *testing.T) {
	for _, c := range []struct {
		samples        []float64
		q1, median, q3 float64
	}{
		{[]float64{7}, 7, 7, 7},
		{[]float64{2, 1}, 1.25, 1.5, 1.75},
		{[]float64{5, 1, 4, 2, 3}, 2, 3, 4},
		{[]float64{1, 2, 3, 4, 5, 6}, 2.25, 3.5, 4.75},
	} {
		if q1, m, q3 := quartiles(c.samples); q1 != c.q1 || m != c.median || q3 != c.q3 {
			t.Errorf("quartiles(%v) = %v, %v, %v, want %v, %v, %v", c.samples, q1, m, q3, c.q1, c.median, c.q3)
		}
	}
	unsorted := []float64{3, 1, 2}
	quartiles(unsorted)
	if unsorted[0] != 3 {
		t.Error("quartiles sorted the caller's samples")
	}
	if !math.IsNaN(median(nil)) || !math.IsNaN(midmean(nil)) {
		t.Error("no samples have a median or a mean")
	}
}

func TestMidmean(t *testing.T) {
	for want, samples := range map[float64][]float64{
		5:   {5},
		1.5: {1, 2},
		2:   {1000, 1, 2, 2, 2, 2, 2, 0},
		3:   {2, 2, 4, 4, 2, 2, 4, 4},
	} {
		if got := midmean(samples); got != want {
			t.Errorf("midmean(%v) = %v, want %v", samples, got, want)
		}
	}
}

func TestExceeds(t *testing.T) {
	for _, c := range []struct {
		yes, asked uint64
		p          float64
		want       bool
	}{
		{0, 0, 0.01, false},
		{10_000, 1_000_000, 0.01, false},
		{10_300, 1_000_000, 0.01, false},
		{11_000, 1_000_000, 0.01, true},
		{112, 1_000_000, 1e-4, false},
		{200, 1_000_000, 1e-4, true},
	} {
		if got := exceeds(c.yes, c.asked, c.p); got != c.want {
			t.Errorf("exceeds(%d, %d, %g) = %t", c.yes, c.asked, c.p, got)
		}
	}
}

// TestVersions: each Go peer's module is one this program was built with.
func TestVersions(t *testing.T) {
	if len(environment.Versions()) < 5 {
		t.Skip("NOT TESTED: versions, for this binary does not say what it was built with")
	}
	for _, info := range describe(goPeers()) {
		if info.Version == "" || info.Ours != (info.Version == "this commit") {
			t.Errorf("%s: version %q of %q", info.Name, info.Version, info.Module)
		}
	}
}

// sample is a report with one of everything.
func sample() *report {
	times := func(base float64) [opCount][]float64 {
		var t [opCount][]float64
		for op := range t {
			t[op] = []float64{base + float64(op), base + 1 + float64(op), base + 4 + float64(op)}
		}
		return t
	}
	r := &report{
		Machine: environment.Machine{CPU: "A CPU", Cores: 2, Caches: "L1 32 KiB", System: "linux/amd64", HugePages: "madvise", Go: "go1.26", Date: "2026-01-02", Command: "go run ./compare"},
		Left:    []string{"Guava: no java is installed"},
		Free:    []float64{1.9, 2, 1.5},
		Peers: []peerInfo{
			{Name: referencePortable, Module: ourModule, Version: "this commit", Hash: "Murmur3", Safe: "yes", Blocked: true, Ours: true},
			{Name: "faithful", Module: "example.com/faithful", Version: "v1.0.0", Hash: "xxh3", Safe: "readers only"},
			{Name: "breaking, no parallel", Module: "example.com/breaking", Version: "v2.0.0", Hash: "own", Safe: "no", Static: true},
			{Name: "floor: a line", Safe: "yes", Floor: true},
		},
	}
	for _, n := range []uint64{10_000, 1_000_000} {
		floor := &series{Peer: "floor: a line", N: n, P: 0.01, Bits: n * 10, One: times(1), All: times(1)}
		floor.One[opDuplicate], floor.One[opMiss], floor.One[opMixed] = nil, nil, nil
		r.Series = append(r.Series,
			&series{Peer: referencePortable, N: n, P: 0.01, Bits: n * 10, Yes: 9900, Misses: 1_000_000, One: times(10), All: times(6)},
			&series{Peer: "faithful", N: n, P: 0.01, Bits: n * 12, Yes: 5000, Misses: 1_000_000, One: times(20), All: times(40)},
			&series{Peer: "breaking, no parallel", N: n, P: 0.01, Bits: n * 9, Yes: 40_000, Misses: 1_000_000, One: times(5)},
			floor)
	}
	return r
}

func TestMarkdown(t *testing.T) {
	var got bytes.Buffer
	if err := sample().markdown(&got); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/report.golden.md"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the tables differ from %s; if they should, run the test with -update\n%s", golden, got.String())
	}
}

// TestResults: what is saved and loaded again makes the same tables, and the plots
// are drawn.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.json")
	if err := sample().save(path); err != nil {
		t.Fatal(err)
	}
	r, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	_, _ = sample().markdown(&a), r.markdown(&b) // a Buffer does not fail
	if a.String() != b.String() {
		t.Error("other tables from the file than from memory")
	}
	files, err := drawPlots(r, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 7 {
		t.Errorf("%d plots: %v", len(files), files)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "faithful") && !strings.HasSuffix(file, "-all.svg") {
			t.Errorf("%s does not name a peer", file)
		}
	}
}
