package stepped

import (
	"strings"
	"testing"
)

// TestExplore: two threads count up a number by a load and a store each. There are eight states: both
// before the load, one after it, both after it, one at its end, the other one then after a load before
// or after the store, and both at their ends with 1 or 2.
func TestExplore(t *testing.T) {
	last := map[int64]bool{}
	world := func(switches int) func() World {
		return func() World {
			var number Int64
			number.Load() // so that it has a name
			count := Thread{Kind: "count", Run: func() uint64 {
				number.Store(number.Load() + 1)
				return 0
			}}
			return World{Threads: []Thread{count, count}, Switches: switches, Check: func(waiting bool) string {
				last[number.Load()] = true
				if waiting {
					return "they wait"
				}
				return ""
			}}
		}
	}
	if states, wrong := Explore(t, world(0)); states != 8 || wrong != "" || len(last) != 2 || !last[1] || !last[2] {
		t.Errorf("%d states, %q, the number is at last one of %v, want 8 states, and 1 and 2", states, wrong, last)
	}
}

// TestExploreFinds threads that wait for each other in one order only.
func TestExploreFinds(t *testing.T) {
	_, wrong := Explore(t, func() World {
		var a, b Mutex
		take := func(first, second *Mutex) func() uint64 {
			return func() uint64 {
				first.Lock()
				defer first.Unlock()
				second.Lock()
				defer second.Unlock()
				return 0
			}
		}
		return World{
			Threads: []Thread{{"ab", take(&a, &b)}, {"ba", take(&b, &a)}},
			Check: func(waiting bool) string {
				if waiting {
					return "they wait"
				}
				return ""
			},
		}
	})
	if !strings.HasPrefix(wrong, "they wait\nin this order: ") {
		t.Errorf("two locks in either order: %q", wrong)
	}
}
