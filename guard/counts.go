package guard

import (
	"math/rand/v2"
	"sync/atomic"
)

// Counts is what a Guard has done, since it was made, and where it is.
type Counts struct {
	Ready    bool   // there is a filter that is asked
	Building bool   // a build is under way
	Scanned  uint64 // keys that the build under way has listed, or the last one
	Builds   uint64 // builds that have succeeded

	N    uint64 // keys that the filter that is asked is for
	Keys uint64 // keys that were added to it and that it had not: more than N, and it is full

	// What became of the calls of Get.
	Spared         uint64 // the filter knew that the key is absent: sampled, from some ten thousand on
	Found          uint64 // the store was asked, and had the key
	FalsePositives uint64 // the filter said "maybe", and the store did not have the key
	NotReady       uint64 // the store was asked because there was no filter
	Failed         uint64 // the store was asked, and returned an error
}

// FalsePositiveRate returns the observed rate: which share of the absent keys that
// were asked for the filter did not know to be absent, FalsePositives /
// (FalsePositives + Spared). It is 0 if there were none. Keys that were deleted since
// the last build count. For the rate of some minutes, subtract the two numbers of an
// earlier Counts.
func (c Counts) FalsePositiveRate() float64 {
	if c.FalsePositives == 0 {
		return 0
	}
	return float64(c.FalsePositives) / (float64(c.FalsePositives) + float64(c.Spared))
}

// Counts returns the counts, in constant time.
//
// Spared is exact up to some ten thousand. From there on one call in 256 counts for 256,
// so that the calls need not write to memory that they share: of x calls, the standard
// error is 16·√x, 1.6 % at a million and 0.2 % at a hundred million.
func (g *Guard) Counts() Counts {
	s := g.state.Load()
	c := Counts{
		Ready:    s.filter != nil,
		Building: s.next != nil,
		Scanned:  g.scanned.Load(),
		Builds:   g.builds.Load(),

		Spared:         g.spared.sum(),
		Found:          g.found.sum(),
		FalsePositives: g.falsePositives.sum(),
		NotReady:       g.notReady.sum(),
		Failed:         g.failed.sum(),
	}
	if s.current != nil {
		c.N, c.Keys = s.current.Params().N, s.current.keys.Load()
	}
	return c
}

// EachCount calls yield with each of the counts that [Guard.Counts] returns, and its name: what
// package prombloom makes metrics of. Yes and no are 1 and 0.
func (g *Guard) EachCount(yield func(name string, value float64)) {
	c := g.Counts()
	for _, yes := range []struct {
		name string
		is   bool
	}{{"ready", c.Ready}, {"building", c.Building}} {
		value := 0.0
		if yes.is {
			value = 1
		}
		yield(yes.name, value)
	}
	yield("scanned", float64(c.Scanned))
	yield("builds", float64(c.Builds))
	yield("keys", float64(c.Keys))
	yield("spared", float64(c.Spared))
	yield("found", float64(c.Found))
	yield("false_positives", float64(c.FalsePositives))
	yield("not_ready", float64(c.NotReady))
	yield("failed", float64(c.Failed))
	yield("false_positive_rate", c.FalsePositiveRate())
}

// A tally is a counter that many goroutines add to. It is spread over cache lines, of
// which each call chooses one at random, as Go does not say which processor it is on.
type tally struct {
	many  atomic.Bool // sample counts only some calls; on a line that is then only read
	_     [64]byte
	lines [lines]struct {
		n atomic.Uint64
		_ [56]byte
	}
}

const (
	lines  = 16   // a power of two
	exact  = 4096 // the number of calls on a line from which on some are counted
	weight = 256  // of a call that is counted then, a power of two
)

func (t *tally) add() { t.lines[rand.Uint32()%lines].n.Add(1) }

// sample counts nearly always nothing, and then much.
func (t *tally) sample() {
	r := rand.Uint32()
	if t.many.Load() {
		if r%weight == 0 {
			t.lines[r/weight%lines].n.Add(weight)
		}
		return
	}
	if t.lines[r%lines].n.Add(1) >= exact {
		t.many.Store(true)
	}
}

func (t *tally) sum() (sum uint64) {
	for i := range t.lines {
		sum += t.lines[i].n.Load()
	}
	return sum
}
