package main

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// A promise is that of a filter, to err at a rate of at most p as long as at most n different
// keys are in it, and how far it has been used up.
type promise struct {
	scheme bloom.Scheme
	before uint64 // keys that were in at first: an estimate, if there were any
	added  uint64 // since then; what was dropped is not in
}

func promiseOf(f *bloom.BloomFilter) *promise {
	return &promise{scheme: f.Scheme(), before: f.Stats().EstimatedCount}
}

// keys returns how many are in.
func (p *promise) keys() uint64 {
	if sum := p.before + p.added; sum >= p.before {
		return sum
	}
	return math.MaxUint64
}

// left returns how many more keys the promise holds for. A filter of another program may not
// say what was promised.
func (p *promise) left() uint64 {
	made := p.scheme.Params()
	if made.N == 0 && made.P == 0 {
		return math.MaxUint64
	}
	return made.N - min(p.keys(), made.N)
}

// broken reports whether there are more keys than the promise holds for.
func (p *promise) broken() bool { return p.left() == 0 && p.keys() > p.scheme.Params().N }

// missing returns how many new keys were taken for old ones, as is to be expected, given the
// number of keys that is estimated from the filter's bits.
//
// All of a dropped key's bits are set already, so the bits are those of all keys, dropped ones
// too, and the rate is the one for as many. As long as few are dropped, their number follows
// from how many were added, by the midpoint method. Later that says little about it, and the
// bits say more.
func (p *promise) missing(estimated uint64) float64 {
	made := p.scheme.Params()
	const steps = 512
	step, keys, missing := float64(p.added)/steps, float64(p.before), 0.0
	for range steps {
		rate := p.scheme.Strategy().FalsePositiveRate(made.M, made.K, uint64(keys+step/2))
		lost := step * rate / (1 - rate)
		missing += lost
		keys += step + lost
		if missing > float64(p.added)/20 {
			if estimated == math.MaxUint64 {
				return math.Inf(1)
			}
			return max(missing, float64(estimated)-float64(p.keys()))
		}
	}
	return missing
}

// showMissing prints an expected number of lines.
func showMissing(lines float64) string {
	switch {
	case math.IsInf(lines, 0) || math.IsNaN(lines) || lines >= 1<<63:
		return "more than can be told"
	case lines < 10:
		return fmt.Sprintf("about %.2g", lines)
	}
	return "about " + grouped(uint64(math.Round(lines)))
}
