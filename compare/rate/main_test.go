package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestKinds: different numbers make different keys, and neighbours of the last kind
// differ in one bit.
func TestKinds(t *testing.T) {
	for _, k := range kinds {
		seen := map[string]bool{}
		for i := range uint64(10_000) {
			for _, number := range []uint64{i, firstNumber(3) + i} {
				key := string(k.append(nil, number))
				if seen[key] {
					t.Fatalf("%s: number %d has another's key", k.name, number)
				}
				seen[key] = true
			}
			a, b := k.append(nil, i), k.append(nil, i+1)
			differ := 0
			for j := range min(len(a), len(b)) {
				differ += bits.OnesCount8(a[j] ^ b[j])
			}
			if k.name == "one bit" && differ != 1 {
				t.Fatalf("keys %d and %d differ in %d bits", i, i+1, differ)
			}
		}
	}
}

// TestSubjectsFindTheirKeys: a wrong adapter would measure nothing.
func TestSubjectsFindTheirKeys(t *testing.T) {
	for _, s := range append(ourSubjects(), contrasts()...) {
		smp, err := s.open(1000, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 { // the second filter is empty again
			f := smp.next()
			for j := range uint64(1000) {
				f.Add(kinds[1].append(nil, firstNumber(i)+j))
			}
			if f, ok := f.(sealer); ok {
				f.Seal()
			}
			old := 0
			for j := range uint64(1000) {
				if !f.Contains(kinds[1].append(nil, firstNumber(i)+j)) {
					t.Fatalf("%s misses a key", s.name)
				}
				if f.Contains(kinds[1].append(nil, firstNumber(1-i)+j)) {
					old++
				}
			}
			if old > 100 {
				t.Errorf("%s has %d of 1000 keys that were not added to this filter", s.name, old)
			}
		}
	}
}

// TestProgram runs a tiny grid and looks at what comes out.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	stdout := os.Stdout
	devNull, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = devNull
	err = program([]string{"-n", "10,1000", "-p", "0.01,1e-9", "-only", "^(Blocked|DoubleHashing|textbook.*|pebble)$", "-budget", "3s", "-out", dir})
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(dir, "rate.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| DoubleHashing | ", "| 1\u00a0000 | 0.01 | sequential |", " † |", "| textbook double hashing | – |", "`go run ./compare/rate -n 10,1000"} {
		if !strings.Contains(string(table), want) {
			t.Errorf("rate.md has no %q:\n%s", want, table)
		}
	}
	if plot, err := os.ReadFile(filepath.Join(dir, "rate-grid.svg")); err != nil || !bytes.Contains(plot, []byte("pebble")) {
		t.Errorf("the plot does not name a filter: %v", err)
	}
}

// TestNothingToCompareWith: neither without the others nor with a single point, nor
// with nothing measured at all, is there nothing to write.
func TestNothingToCompareWith(t *testing.T) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	for _, budget := range []string{"2s", "1ns"} {
		dir := t.TempDir()
		if err := program([]string{"-n", "10", "-p", "0.01", "-only", "^Blocked$", "-budget", budget, "-out", dir}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "rate.md")); err != nil {
			t.Error(err)
		}
	}
}

// TestBudget: what there is no time for is said not to have been measured.
func TestBudget(t *testing.T) {
	o := options{sizes: []uint64{1000}, rates: []float64{0.01}, subjects: regexp.MustCompile("^Blocked$")}
	results := run(o.grid(), -time.Second, &progress{out: io.Discard})
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	for _, res := range results {
		if res.err == nil {
			t.Error("measured without time")
		}
	}
	text := (&report{results: results}).markdown()
	if !strings.Contains(text, "not measured: Blocked, n = 1\u00a0000, p = 0.01, random keys: no time left") {
		t.Error(text)
	}
	// And what was cut short has fewer filters than planned, but one at least.
	res := cell{ourSubjects()[0], kinds[0], 1000, 0.01}.measure(time.Now())
	if !res.cut || res.tally.filters != 1 || math.IsNaN(res.verdict.rate) {
		t.Errorf("%+v", res)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-n", "1e3,10", "-large"}, io.Discard)
	if err != nil || fmt.Sprint(o.sizes) != "[10 1000 1000000000]" {
		t.Errorf("%v %v", o.sizes, err)
	}
	for _, args := range [][]string{{"-n", "0"}, {"-n", "1.5"}, {"-p", "1"}, {"-p", "x"}, {"-only", "("}, {"-budget", "0s"}, {"more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if o, err := parse([]string{"-quick"}, io.Discard); err != nil || o.budget > 50*time.Second {
		t.Errorf("-quick takes %v, %v", o.budget, err)
	}
}
