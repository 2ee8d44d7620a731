package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestKeys: different numbers give different keys of the right length, and a slab
// that is filled again forgets the last ones.
func TestKeys(t *testing.T) {
	s := newSlab()
	seen := map[string]bool{}
	for _, base := range []uint64{0, 1 << fillShift, absentBit} {
		fresh(base)(s, 5, chunkKeys)
		for _, key := range s.keys {
			if len(key) != 40 || !strings.HasPrefix(string(key), keyPrefix) || seen[string(key)] {
				t.Fatalf("bad or repeated key %q", key)
			}
			seen[string(key)] = true
		}
	}
	among(0, 10, 99)(s, 0, chunkKeys)
	among10 := map[string]bool{}
	for _, key := range s.keys {
		among10[string(key)] = true
	}
	if len(among10) != 10 {
		t.Errorf("%d different keys among 10", len(among10))
	}
	fresh(0)(s, 0, 10)
	for _, key := range s.keys {
		if !among10[string(key)] {
			t.Fatalf("%q is not among the first 10 keys", key)
		}
	}
	if first := string(s.keys[0]); first != "https://www.example.com/e220a8397b1dcdaf" {
		t.Errorf("key 0 is %q: the JVM's program has other keys now", first)
	}
}

// TestCrew: every key of a run is made exactly once, whoever works.
func TestCrew(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for _, total := range []uint64{1, 2, chunkKeys, chunkKeys + 1, 5*chunkKeys - 1} {
			made := make([]atomic.Int32, total)
			steps, sum := newCrew(workers).run(total, func(s *slab, first uint64, count int) {
				s.set(first, count)
				for i := range count {
					made[first+uint64(i)].Add(1)
				}
			}, func(s *slab) int { return len(s.keys) })
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

func TestMeasure(t *testing.T) {
	for _, p := range append(goPeers(), floorPeers()...) {
		o, err := p.measure(tiny)
		if err != nil {
			t.Fatal(err)
		}
		if !(o.one[opAdd] > 0 && o.one[opHit] > 0) {
			t.Errorf("%s: %v", p.name, o.one)
		}
		if parallel := o.all[opHit] > 0; parallel != (p.safe != safeNone) {
			t.Errorf("%s: measured in parallel: %t", p.name, parallel)
		}
		if adds := o.all[opAdd] > 0; adds != (p.safe == safeFull) {
			t.Errorf("%s: adds in parallel: %t", p.name, adds)
		}
		if !p.floor && o.misses == 0 {
			t.Errorf("%s: no rate", p.name)
		}
	}
}

// TestMeasureSeesMisses: a filter that forgets is no filter, however fast.
func TestMeasureSeesMisses(t *testing.T) {
	p := &peer{name: "forgetful", make: func(uint64, float64) (filter, error) { return forgetful{}, nil }}
	if _, err := p.measure(tiny); err == nil {
		t.Error("no error for a filter that forgets its keys")
	}
}

type forgetful struct{}

func (forgetful) addAll([][]byte) int      { return 0 }
func (forgetful) containsAll([][]byte) int { return 0 }
func (forgetful) bits() uint64             { return 1 }

// TestPlan runs a small plan and looks at what it keeps and tells.
func TestPlan(t *testing.T) {
	peers := matching(goPeers(), regexp.MustCompile("^ours: DoubleHashing, Murmur3$|BoomFilters"))
	var told bytes.Buffer
	bar := &progress{out: &told, terminal: true}
	p := plan{peers: peers, sizes: []uint64{100}, rates: []float64{0.01}, rounds: func(uint64) int { return 2 }, workers: 2, quick: true}
	var all []*series
	var free []float64
	err := p.run(bar, func(list []*series, cores []float64) error {
		all, free = list, cores
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(free) != 2 || !(free[0] > 0) {
		t.Errorf("free cores in 2 rounds: %v", free)
	}
	if len(all) != 2 || len(all[0].One[opMiss]) != 2 || len(all[1].All[opHit]) != 0 {
		t.Errorf("%d series: %+v", len(all), all)
	}
	if left := bar.timeLeft(); left != 0 {
		t.Errorf("%s left at the end", left)
	}
	if !strings.Contains(told.String(), "round 2 of 2: BoomFilters") {
		t.Errorf("told %q", told.String())
	}
}

// TestProgressInLog: a log gets few lines.
func TestProgressInLog(t *testing.T) {
	var told bytes.Buffer
	key := jobKey{"a", 1, 0.5}
	bar := &progress{out: &told, total: map[jobKey]*visits{key: {left: 3, each: time.Minute}}}
	for i := range 3 {
		bar.say(fmt.Sprint("step ", i))
		bar.done(key, time.Second)
	}
	if told.String() != "3m0s left | step 0\n" {
		t.Errorf("told %q", told.String())
	}
}

func TestSplitOptions(t *testing.T) {
	o, err := parse([]string{"-n", "1e4,5", "-p", "0.5", "-large", "-rounds", "2"}, new(bytes.Buffer))
	if err != nil || fmt.Sprint(o.sizes, o.rates, o.roundsFor(5)) != "[10000 5 100000000] [0.5] 2" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"-n=0", "-n=1.5", "-n=x", "-n=NaN", "-p=0", "-p=1", "-p=NaN", "-rounds=-1", "-peers=(", "word"} {
		if _, err := parse([]string{bad}, new(bytes.Buffer)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// TestGuava runs where a JVM and Guava are: its filter must be measured like the
// others, and on the same keys give the rate it promises.
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
	o, err := g.measure(job)
	if err != nil {
		t.Fatal(err)
	}
	for op := range opMixed {
		if !(o.one[op] > 0 && o.all[op] > 0) {
			t.Errorf("%s: %v, %v", opNames[op], o.one[op], o.all[op])
		}
	}
	rate := float64(o.yes) / float64(o.misses)
	if perKey := float64(o.bits) / 10_000; math.Abs(perKey-9.59) > 0.01 || rate < 0.005 || rate > 0.02 {
		t.Errorf("%.2f bits a key, rate %g", perKey, rate)
	}
}
