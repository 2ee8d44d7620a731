package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed3447c163/bloom"
)

// simulate makes the tally of some filters whose rates vary, as those of small
// filters do, and that are asked the given number of times each.
func simulate(rng *rand.Rand, filters int, probes uint64, known bool) (t tally, predicted float64) {
	const low, high = 0.01, 0.05 // a filter has one or the other
	for range filters {
		rate := low
		if rng.IntN(2) == 0 {
			rate = high
		}
		hits := uint64(0)
		for range probes {
			if rng.Float64() < rate {
				hits++
			}
		}
		if !known {
			rate = math.NaN()
		}
		t.note(probes, hits, rate)
	}
	t.spread = (high - low) / 2
	return t, (low + high) / 2
}

// TestSigmasAreSigmas: over many simulated cells, the deviations in sigmas have mean
// 0 and standard deviation 1, although the probes of a filter are not independent.
func TestSigmasAreSigmas(t *testing.T) {
	const cells = 2000
	for _, c := range []struct {
		name    string
		filters int
		probes  uint64
		known   bool
	}{
		{"many filters, fill known", 100, 200, true},
		{"few filters, fill known, spread by a model", 4, 1000, true},
		{"a probe each", 2000, 1, true},
		{"many filters, fill unknown", 100, 200, false},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var direct, fill, naive []float64
		for range cells {
			tl, predicted := simulate(rng, c.filters, c.probes, c.known)
			v := tl.judge(1, predicted)
			direct = append(direct, deviation(tl.measured(), predicted, tl.probeError(predicted)))
			if c.known {
				fill = append(fill, v.fillSig)
				if v.sigmas != direct[len(direct)-1] {
					t.Fatalf("%s: judge says %v sigma, want %v", c.name, v.sigmas, direct[len(direct)-1])
				}
			}
			naive = append(naive, (tl.measured()-predicted)/math.Sqrt(predicted/tl.probes))
		}
		for what, sample := range map[string][]float64{"lookups": direct, "fill": fill} {
			if len(sample) == 0 {
				continue
			}
			mean, sd := moments(sample)
			// Of 2000 normal ones, the mean is within 4/√2000 and the standard
			// deviation within 4/√4000; 0.05 more for what is not quite normal.
			if math.Abs(mean) > 0.09+0.05 || math.Abs(sd-1) > 0.063+0.05 {
				t.Errorf("%s, by the %s: mean %.3f and standard deviation %.3f sigma, want 0 and 1", c.name, what, mean, sd)
			}
		}
		if _, sd := moments(naive); c.probes > 1 && sd < 1.5 {
			t.Errorf("%s: even the binomial's sigmas have a standard deviation of %.2f: this simulation shows nothing", c.name, sd)
		}
	}
}

func moments(sample []float64) (mean, sd float64) {
	for _, x := range sample {
		mean += x / float64(len(sample))
	}
	for _, x := range sample {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(sample)-1))
}

// TestSpreads compares the models of the spread with what many filters show.
func TestSpreads(t *testing.T) {
	const n, filters = 30_000, 200
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		for _, p := range []float64{0.1, 1e-3} {
			smp, err := openOurs(n, p, s)
			if err != nil {
				t.Fatal(err)
			}
			var seen tally
			for i := range filters {
				f := smp.next().(ourFilter)
				for j := range uint64(n) {
					number := firstNumber(i) + j
					f.AddHash(mix(2*number), mix(2*number+1))
				}
				seen.note(0, 0, smp.rate())
			}
			model := smp.spread()
			got := seen.rateSpread()
			// The standard deviation of 200 is within 4/√400 of the true one, and
			// that of 256 sections about as much. For Blocked it is a bound.
			low, high := 0.8, 1.25
			if s.Name() == bloom.Blocked.Name() {
				high = 2.5
			}
			if ratio := model / got; ratio < low || ratio > high {
				t.Errorf("%s at p = %g: the model's spread is %.2f times the filters'", s, p, ratio)
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	full := func(filters int, probes, hits uint64, rate float64) (tl tally) {
		for i := range filters {
			tl.note(probes, hits, rate*(1+0.01*float64(i%3-1)))
		}
		return tl
	}
	for _, c := range []struct {
		name         string
		tally        tally
		p, predicted float64
		kept, direct bool
	}{
		{"as predicted", full(99, 10_000, 100, 0.01), 0.01, 0.01, true, true},
		{"lookups above p", full(99, 10_000, 120, 0.01), 0.01, 0.01, false, true},
		{"fill above p", full(99, 10_000, 100, 0.011), 0.01, 0.01, false, true},
		{"below p", full(99, 10_000, 50, 0.005), 0.01, 0.005, true, true},
		{"too few hits to tell", full(99, 1000, 0, 1e-9), 1e-9, 1e-9, true, false},
		{"hits where none are expected", full(99, 1000, 1, 1e-9), 1e-9, 1e-9, false, true},
	} {
		v := c.tally.judge(c.p, c.predicted)
		if v.kept() != c.kept || v.direct != c.direct {
			t.Errorf("%s: kept %t and direct %t, want %t and %t: %+v", c.name, v.kept(), v.direct, c.kept, c.direct, v)
		}
	}
}
