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

// TestExploreFinds what is wrong in one order only, and threads that wait for each other.
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

	// A second look at the pointer after the swap finds another thread's number.
	_, wrong = Explore(t, func() World {
		var shared Shared[int]
		shared.Store(new(int))
		torn := false
		swap := Thread{Kind: "swap", Run: func() uint64 {
			mine := new(int)
			if shared.Swap(mine); shared.Load() != mine {
				torn = true
				return 1
			}
			return 0
		}}
		return World{Threads: []Thread{swap, swap}, Switches: 1, Check: func(bool) string {
			if torn {
				return "another one's"
			}
			return ""
		}}
	})
	if !strings.HasPrefix(wrong, "another one's") {
		t.Errorf("a swap in between: %q", wrong)
	}
}

// TestWait: a thread that waits for a change goes on after the change.
func TestWait(t *testing.T) {
	states, wrong := Explore(t, func() World {
		var done Bool
		return World{Threads: []Thread{
			{"wait", func() uint64 {
				for !done.Load() {
					Gosched()
				}
				return 0
			}},
			{"work", func() uint64 {
				end := Whole()
				done.Store(true)
				end()
				return 0
			}},
		}, Check: func(waiting bool) string {
			if waiting {
				return "it does not end"
			}
			return ""
		}}
	})
	if wrong != "" || states < 5 {
		t.Errorf("%d states: %s", states, wrong)
	}
}
