package explore

import "testing"

// counters are two goroutines that count up a number by a load and a store each.
type counters struct {
	number int
	loaded [2]int
	at     [2]int
}

func (c counters) step(i int) counters {
	switch c.at[i] {
	case 0:
		c.loaded[i] = c.number
	case 1:
		c.number, c.loaded[i] = c.loaded[i]+1, 0
	default:
		return c
	}
	c.at[i]++
	return c
}

// TestStates: two goroutines reach all three by three places, the last one with both results of a lost
// update.
func TestStates(t *testing.T) {
	last := map[int]bool{}
	visited := 0
	states := States(counters{}, func(c counters, to func(counters)) {
		to(c.step(0))
		to(c.step(1))
	}, func(c counters, final bool) {
		visited++
		if final != (c.at == [2]int{2, 2}) {
			t.Errorf("%+v: final = %v", c, final)
		}
		if final {
			last[c.number] = true
		}
	})
	if len(last) != 2 || !last[1] || !last[2] {
		t.Errorf("the number is at last one of %v, want 1 and 2", last)
	}
	// (0,0) (1,0) (0,1) (1,1) (2,0) (0,2), (2,1) and (1,2) where the second has loaded before
	// the store or after it, and (2,2) with either number.
	if states != 12 || visited != states {
		t.Errorf("%d states, %d visited, want 12", states, visited)
	}
}
