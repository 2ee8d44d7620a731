package guard

import (
	"math/rand/v2"
	"sync/atomic"
)

// A counter is a counter for many goroutines. It is spread over cache lines, and each call chooses
// one at random.
type counter struct {
	many  atomic.Bool // sample counts only some calls; then its line is only read
	_     [64]byte
	lines [lines]struct {
		n atomic.Uint64
		_ [56]byte
	}
}

const (
	lines  = 16   // a power of two
	exact  = 4096 // calls on a line before sampling begins
	weight = 256  // of a sampled call, a power of two
)

func (t *counter) add() { t.lines[rand.Uint32()%lines].n.Add(1) }

// sample counts every call at first, later one call in weight, with weight weight.
func (t *counter) sample() {
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

func (t *counter) sum() (sum uint64) {
	for i := range t.lines {
		sum += t.lines[i].n.Load()
	}
	return sum
}
