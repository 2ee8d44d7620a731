package rotating

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

// steps is more than an add has.
const steps = 100

// hooked returns a strategy whose index function calls a hook for each position, so that
// a test can let something happen at every step of an add and a lookup.
func hooked(hook *func()) bloom.Strategy {
	return bloom.NewStrategy("hooked", func(h1, h2 uint64, i int, m uint64) uint64 {
		if *hook != nil {
			(*hook)()
		}
		return (h1 + uint64(i)*h2 + uint64(i*i*i)) % m
	})
}

// TestTurnInTheMiddle: a generation ends at every step of an add, once, twice, or so often
// that the layer in use is forgotten, cleared and filled again. In each case that add is
// the winner, and the only one.
func TestTurnInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		for turns := 1; turns < 10; turns++ {
			var c clock
			var hook func()
			f := must(time.Hour, 2, 100, 1e-6, c.option(), bloomOpts(bloom.WithStrategy(hooked(&hook))))
			calls := 0
			hook = func() {
				if calls++; calls != at {
					return
				}
				inner := hook
				hook = nil
				for i := range turns {
					c.sleep(f.length)
					if !f.AddString(fmt.Sprint("other ", i)) {
						t.Fatalf("step %d, %d turns: another key is not new", at, turns)
					}
				}
				hook = inner
			}
			if !f.AddString("key") {
				t.Errorf("step %d, %d turns: not new", at, turns)
			}
			if hook = nil; !f.ContainsString("key") {
				t.Errorf("step %d, %d turns: missing", at, turns)
			}
			f.turning.Lock()
			for _, l := range append(append([]*layer{}, f.retired...), f.clean...) {
				if !l.tickets.Idle() {
					t.Errorf("step %d, %d turns: someone is still inside", at, turns)
				}
			}
			for _, l := range f.clean {
				if l.FillRatio() != 0 || l.tickets.Left() != f.plan.layerKeys() {
					t.Errorf("step %d, %d turns: a clean layer is not clean", at, turns)
				}
			}
			f.turning.Unlock()
		}
	}
}

// TestRivalInTheMiddle: the same key is added at every step of an add, by one who sees
// newer layers. Within the window, one of the two wins.
func TestRivalInTheMiddle(t *testing.T) {
	for at := 1; at < steps; at++ {
		for turns := range 3 {
			var c clock
			var hook func()
			f := must(time.Hour, 2, 100, 1e-6, c.option(), bloomOpts(bloom.WithStrategy(hooked(&hook))))
			calls, winners := 0, 0
			hook = func() {
				if calls++; calls != at {
					return
				}
				inner := hook
				hook = nil
				for i := range turns {
					c.sleep(f.length)
					f.AddString(fmt.Sprint("other ", i))
				}
				if f.AddString("key") {
					winners++
				}
				hook = inner
			}
			if f.AddString("key") {
				winners++
			}
			if hook = nil; winners != 1 || !f.ContainsString("key") {
				t.Errorf("step %d, %d turns before: %d winners", at, turns, winners)
			}
		}
	}
}
