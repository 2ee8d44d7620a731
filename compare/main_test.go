package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/compare/internal/filters"
)

// TestKeys: different numbers give different keys of the right length, and a slab that is
// filled again forgets the last ones.
func TestKeys(t *testing.T) {
	s := newSlab(true)
	seen := map[string]bool{}
	for _, base := range []uint64{0, 1 << fillShift, absentBit} {
		s.fill(fresh(base), 5, chunkKeys)
		for _, key := range s.Bytes {
			if len(key) != 40 || !strings.HasPrefix(string(key), keyPrefix) || seen[string(key)] {
				t.Fatalf("bad or repeated key %q", key)
			}
			seen[string(key)] = true
		}
	}
	s.fill(among(0, 10, 99), 0, chunkKeys)
	among10 := map[string]bool{}
	for _, key := range s.Bytes {
		among10[string(key)] = true
	}
	s.fill(mixed(0, 10, 99), 0, chunkKeys)
	there := 0
	for _, key := range s.Bytes {
		if among10[string(key)] {
			there++
		}
	}
	s.fill(fresh(0), 0, 10)
	for _, key := range s.Bytes {
		if len(among10) != 10 || !among10[string(key)] {
			t.Fatalf("%q is not among the first 10 keys, %d of which were asked for", key, len(among10))
		}
	}
	if half := float64(there) / chunkKeys; math.Abs(half-0.5) > 4*0.5/math.Sqrt(chunkKeys) {
		t.Errorf("%.3f of the mixed keys are there, want half", half)
	}
	if first := string(s.Bytes[0]); first != "https://www.example.com/e220a8397b1dcdaf" || len(s.Digests) != 10 {
		t.Errorf("key 0 is %q: the JVM's program has other keys now", first)
	}
}

// TestCrew: every key of a run is made exactly once, whoever works.
func TestCrew(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for _, total := range []uint64{1, 2, chunkKeys, chunkKeys + 1, 5*chunkKeys - 1} {
			made := make([]atomic.Int32, total)
			steps, sum := newCrew(workers, false).run(total, func(i uint64) uint64 {
				made[i].Add(1)
				return i
			}, func(keys filters.Keys) int { return len(keys.Bytes) })
			for i := range made {
				if made[i].Load() != 1 {
					t.Fatalf("%d workers, %d keys: key %d made %d times", workers, total, i, made[i].Load())
				}
			}
			if uint64(sum) != total || len(steps) == 0 {
				t.Errorf("%d workers: %d of %d keys in %d steps", workers, sum, total, len(steps))
			}
		}
	}
}

// tiny is a job that takes no time.
var tiny = job{n: 1000, p: 0.01, fills: 2, probes: 1000, misses: 10_000, workers: 2}

// TestVisit: every operation is measured that a filter has, and no other.
func TestVisit(t *testing.T) {
	for _, p := range append(filters.Floors(), append(filters.Ours(), filters.Others()...)...) {
		o, err := visit(p, tiny)
		if err != nil {
			t.Fatal(err)
		}
		for op := range opCount {
			one, all := !(p.Static && op == opAgain), p.Safe != filters.None
			if op <= opAgain {
				all = p.Safe == filters.Full && !p.Static
			}
			if o.one[op] > 0 != one || o.all[op] > 0 != all {
				t.Errorf("%s, %s: %v and %v", p.Name, opNames[op], o.one[op], o.all[op])
			}
		}
		if rated := o.misses > 0; rated == p.Floor {
			t.Errorf("%s: %d misses", p.Name, o.misses)
		}
	}
}

type forgetful struct{}

func (forgetful) Add(filters.Keys) int      { return 0 }
func (forgetful) Contains(filters.Keys) int { return 0 }
func (forgetful) Bits() uint64              { return 1 }

// TestVisitSeesMisses: a filter that forgets is no filter, however fast.
func TestVisitSeesMisses(t *testing.T) {
	p := &filters.Peer{Name: "forgetful", Make: func(uint64, float64) (filters.Filter, error) { return forgetful{}, nil }}
	if _, err := visit(p, tiny); err == nil {
		t.Error("no error for a filter that forgets its keys")
	}
}

// TestTable: what is written of made-up samples.
func TestTable(t *testing.T) {
	samples := func(x ...float64) (s [opCount][]float64) {
		for op := range s {
			s[op] = x
		}
		return s
	}
	none := samples(nan, nan, nan)
	table := &table{n: 1000, p: 0.01, rows: []*series{
		{peer: &filters.Peer{Name: "slow", Safe: filters.Readers}, bits: 10_000, yes: 2000, misses: 100_000, one: samples(20, 60, 90), all: none},
		{peer: &filters.Peer{Name: filters.Reference, Ours: true, Safe: filters.Full}, bits: 9600, yes: 1000, misses: 100_000, one: samples(10, 20, 30), all: samples(5, 6, 7)},
		{peer: &filters.Peer{Name: "floor", Floor: true}, one: samples(100, 100, 100), all: none},
	}}
	table.sort()
	var b bytes.Buffer
	table.write(&b)
	for _, want := range []string{
		"| *floor* | – | – | – | 100.0 (–) |", "| **" + filters.Reference + "** | yes | 9.6 | 1 % | 20.0 (6.0) |",
		"| slow | readers only | 10.0 | **2 %** | 60.0 (–) |", "| slow | 3.00 | 3.00 | 3.00 | 3.00 | 3.00 | – |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Index(b.String(), "floor") > strings.Index(b.String(), "SplitBlock") || strings.Index(b.String(), "SplitBlock") > strings.Index(b.String(), "slow") {
		t.Errorf("not sorted:\n%s", b.String())
	}
}

// TestRun measures a little of everything and looks at what is written.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	err := run([]string{"-quick", "-rounds", "2", "-p", "0.01", "-peers", "^(" + filters.Reference + "|bits-and-blooms|floor.*load)$", "-out", dir})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"`go run ./compare -quick", "| bits-and-blooms | readers only | 9.6 |", "by Scheme.Filter** |", "| **ours: double-hashing** |", "github.com/bits-and-blooms/bloom/v3 |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if plot, err := os.ReadFile(filepath.Join(dir, "ns-n10000-p0.01.svg")); err != nil || !bytes.Contains(plot, []byte("bits-and-blooms")) {
		t.Errorf("the plot does not name a filter: %v", err)
	}
	if err := run([]string{"-peers", "nobody", "-out", dir}); err == nil {
		t.Error("no error where there is nothing to measure")
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-n", "1e4,5", "-p", "0.5", "-rounds", "2", "-tables", "keys,small"}, new(bytes.Buffer))
	if err != nil || fmt.Sprint(o.sizes, o.rates, o.roundsFor(5), o.tables) != "[10000 5] [0.5] 2 [keys small]" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"-n=0", "-n=1.5", "-n=x", "-n=NaN", "-p=0", "-p=1", "-p=NaN", "-rounds=-1", "-peers=(", "-tables=x", "word"} {
		if _, err := parse([]string{bad}, new(bytes.Buffer)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// TestGuava runs where a JVM and Guava are: its filter must be measured like the others, and
// on the same keys give the rate that it promises.
func TestGuava(t *testing.T) {
	g, err := startGuava()
	if err != nil {
		if os.Getenv("BLOOM_REQUIRE") != "" {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: Guava:", err)
	}
	defer g.stop()
	job := tiny
	job.n, job.misses = 10_000, 200_000
	o, err := g.visit(job)
	if err != nil {
		t.Fatal(err)
	}
	for op, ns := range o.one {
		if !(ns > 0) {
			t.Errorf("%s: %v", opNames[op], ns)
		}
	}
	rate := float64(o.yes) / float64(o.misses)
	if perKey := float64(o.bits) / 10_000; math.Abs(perKey-9.59) > 0.01 || rate < 0.005 || rate > 0.02 {
		t.Errorf("%.2f bits a key, rate %g", perKey, rate)
	}
	if !regexp.MustCompile(`guava \d`).MatchString(g.peer.Module) {
		t.Errorf("no version: %s", g.peer.Module)
	}
}
