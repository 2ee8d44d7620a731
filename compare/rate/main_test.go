package main

import (
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
)

// TestKinds: different numbers make different keys, and neighbours of the last kind differ
// in one bit.
func TestKinds(t *testing.T) {
	for _, k := range kinds {
		seen := map[string]bool{}
		for i := range uint64(10_000) {
			for _, number := range []uint64{i, 3<<numberShift + i} {
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

// TestSubjects: each can be made, at the smallest p that it is measured at.
func TestSubjects(t *testing.T) {
	for _, s := range subjects() {
		if _, err := s.make(1000, max(s.minP, 1e-6)); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// TestSigmasAreSigmas: over many simulated cells whose filters differ a lot, the deviations
// in standard errors have mean 0 and standard deviation 1.
func TestSigmasAreSigmas(t *testing.T) {
	const cells, low, high, mean = 2000, 0.01, 0.05, 0.03
	for _, c := range []struct{ filters, lookups int }{{100, 200}, {4, 1000}, {2000, 1}} {
		rng := rand.New(rand.NewPCG(1, 2))
		var hits, fill, rate []float64
		for range cells {
			tl := tally{spread: (high - low) / 2}
			for range c.filters {
				r, yes := low, uint64(0)
				if rng.IntN(2) == 0 {
					r = high
				}
				for range c.lookups {
					if rng.Float64() < r {
						yes++
					}
				}
				tl.note(uint64(c.lookups), yes, r)
			}
			hits = append(hits, tl.hitSigmas())
			fill = append(fill, deviation(tl.mean, mean, tl.fillError()))
			rate = append(rate, deviation(tl.measured(), mean, tl.rateError()))
		}
		for what, sample := range map[string][]float64{"lookups": hits, "fill": fill, "both": rate} {
			m, sum := 0.0, 0.0
			for _, x := range sample {
				m += x / cells
			}
			for _, x := range sample {
				sum += (x - m) * (x - m)
			}
			// Of 2000 normal ones, the mean is within 4/√2000 and the standard deviation
			// within 4/√4000; 0.05 more for what is not quite normal.
			if sd := math.Sqrt(sum / (cells - 1)); math.Abs(m) > 0.09+0.05 || math.Abs(sd-1) > 0.063+0.05 {
				t.Errorf("%+v, %s: mean %.3f and standard deviation %.3f, want 0 and 1", c, what, m, sd)
			}
		}
	}
}

// TestSpread compares what one filter's parts say with what many filters show. The standard
// deviation of 200 is within 4/√400 of the true one, and that of 256 parts about as much; the
// model leaves out that the parts' keys have a fixed sum.
func TestSpread(t *testing.T) {
	const n, filters = 30_000, 200
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.SplitBlock} {
		f := bloom.MustNew(n, 0.01, bloom.WithStrategy(s))
		var seen tally
		for i := range uint64(filters) {
			f.Clear()
			for j := range uint64(n) {
				f.AddDigest(bloom.Digest64(i<<numberShift + j))
			}
			seen.note(0, 0, f.Stats().EstimatedFalsePositiveRate)
		}
		if ratio := spread(f) / seen.rateSpread(); ratio < 0.8 || ratio > 3 {
			t.Errorf("%s: the parts' spread is %.2f times the filters'", s, ratio)
		}
	}
	if s := spread(bloom.MustNew(10, 0.01)); !math.IsNaN(s) {
		t.Errorf("a small filter's spread is %v, want NaN", s)
	}
}

// TestJudge: what is kept.
func TestJudge(t *testing.T) {
	full := func(filters int, lookups, hits uint64, rate float64) (t tally) {
		for i := range filters {
			t.note(lookups, hits, rate*(1+0.1*float64(i%2*2-1)))
		}
		return t
	}
	for _, c := range []struct {
		name         string
		tally        tally
		p            float64
		kept, direct bool
	}{
		{"as predicted", full(100, 10_000, 100, 0.01), 0.01, true, true},
		{"lookups above p", full(100, 10_000, 120, 0.01), 0.01, false, true},
		{"fill above p", full(100, 10_000, 100, 0.011), 0.01, false, true},
		{"below p", full(100, 10_000, 50, 0.005), 0.01, true, true},
		{"too few hits to tell", full(100, 1000, 0, 1e-9), 1e-9, true, false},
		{"hits where none are expected", full(100, 1000, 1, 1e-9), 1e-9, false, true},
		{"a fill that is unknown", full(100, 10_000, 100, math.NaN()), 0.01, true, true},
		{"above p, the fill unknown", full(100, 10_000, 120, math.NaN()), 0.01, false, true},
	} {
		if kept, direct := c.tally.kept(c.p), c.tally.direct(); kept != c.kept || direct != c.direct {
			t.Errorf("%s: kept %t and direct %t, want %t and %t", c.name, kept, direct, c.kept, c.direct)
		}
	}
}

// TestMeasure runs a tiny grid, with time and without, and looks at what comes out.
func TestMeasure(t *testing.T) {
	for budget, wants := range map[string][]string{
		"3s":  {"| Blocked | ", "| 1\u00a0000 | 0.01 | sequential |", " † |", "| n | p | DoubleHashing | Blocked | textbook", "`go run ./compare/rate -n 10,1000"},
		"1ns": {"- not measured: Blocked, n = 1000, p = 0.01, random keys: no time left"},
	} {
		dir := t.TempDir()
		if err := measure([]string{"-n", "10,1000", "-p", "0.01,1e-9", "-only", "^(Blocked|DoubleHashing|textbook.*|pebble)$", "-budget", budget, "-out", dir}, io.Discard); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "rate.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	for _, args := range [][]string{{"-n", "0"}, {"-n", "1.5"}, {"-p", "1"}, {"-p", "x"}, {"-only", "("}, {"-only", "nobody"}, {"-budget", "-1s"}, {"more"}} {
		if err := measure(append([]string{"-out", t.TempDir()}, args...), io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
