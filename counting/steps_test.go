//go:build steps

package counting

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestAddAndRemoveInSteps runs the real code in every order of its operations. Goroutines add a key
// and remove it after adds that have returned, while the counters of other keys rise and fall. There
// is one winner, and at most one more for each remove that has begun. No remove meets a 0, and the
// counters add up.
func TestAddAndRemoveInSteps(t *testing.T) {
	for _, c := range []struct {
		adders, removers, switches int
		stride                     uint64 // between a key's counters: in one word, or in several
		long                       bool
	}{
		{2, 0, 0, 16, false}, {2, 0, 2, 1, false}, {3, 0, 2, 16, false}, {2, 1, 2, 16, false}, {2, 2, 2, 16, true},
		{2, 0, 4, 1, true}, {2, 1, 3, 16, true}, {2, 2, 3, 16, true}, {3, 1, 2, 16, true}, {3, 0, 3, 1, true},
	} {
		if c.long && !*testkit.Long {
			continue
		}
		strategy := strided(c.stride)
		for others := range 64 { // for each of three counters: nothing, present, rises, falls
			if others > 3 && (others != 21 || c.adders+c.removers > 2) && !*testkit.Long {
				continue // others of the first counter only, or of all
			}
			stepped.Holds(t, fmt.Sprintf("%+v, others %06b", c, others), func() stepped.World {
				return newRace(strategy, c.adders, c.removers, c.switches, c.stride, others)
			})
		}
	}
}

// strided returns a strategy whose positions are the same for all keys.
func strided(stride uint64) bloom.Strategy {
	return bloom.NewStrategy("strided", bloom.Definition{Positions: testkit.ByIndex(func(_, _ uint64, i int, _ uint64) uint64 { return uint64(i) * stride })})
}

// TestRemoveTwiceInSteps: goroutines remove a key that was added once, against the rules. One of
// them gets true, the others put back what they took, and a key that shares a counter stays.
func TestRemoveTwiceInSteps(t *testing.T) {
	for shared := range uint64(3) {
		stepped.Holds(t, fmt.Sprintf("counter %d shared", shared), func() stepped.World {
			f := with(3*16, 3, bloom.WithStrategy(strided(16)))
			f.Add(nil)
			f.counters.up(shared * 16)
			removed := 0
			w := stepped.World{Switches: 2, Check: func(bool) string {
				for i := range uint64(3) {
					if got := f.counters.get(i * 16); removed != 1 || (got == 1) != (i == shared) || got > 1 {
						return fmt.Sprintf("removed %d times, counter %d is %d", removed, i, got)
					}
				}
				return ""
			}}
			for range 2 {
				w.Threads = append(w.Threads, stepped.Thread{Kind: "remove", Run: func() uint64 {
					if !f.Remove(nil) {
						return 0
					}
					removed++
					return 1
				}})
			}
			return w
		})
	}
}

// newRace returns a world of adders and removers of one key, and of one goroutine for other keys.
func newRace(strategy bloom.Strategy, adders, removers, switches int, stride uint64, others int) stepped.World {
	f := with(3*16, 3, bloom.WithStrategy(strategy))
	var first, last [3]uint64
	var moves []func()
	for i := range first {
		pos := uint64(i) * stride
		kind := others >> (2 * i) & 3
		if kind == 1 || kind == 3 {
			f.counters.up(pos)
			first[i] = 1
		} else {
			f.counters.get(pos) // gives the word a name
		}
		switch last[i] = first[i]; kind {
		case 2:
			moves, last[i] = append(moves, func() { f.counters.up(pos) }), 1
		case 3:
			moves, last[i] = append(moves, func() { f.counters.down(pos) }), 0
		}
	}
	key := []byte("key")
	added, begun, wins, wrong := 0, 0, 0, ""
	w := stepped.World{Switches: switches}
	for range adders {
		w.Threads = append(w.Threads, stepped.Thread{Kind: "add", Run: func() uint64 {
			won := f.Add(key)
			added++
			if !won {
				return 0
			}
			if wins++; wins > 1+begun {
				wrong = "a second winner before a remove has begun"
			}
			return 1
		}})
	}
	for range removers {
		w.Threads = append(w.Threads, stepped.Thread{Kind: "remove", Run: func() uint64 {
			stepped.Until(func() bool { return added > begun })
			begun++
			if !f.Remove(key) {
				wrong = "a remove of a key that is there returns false"
			}
			return 0
		}})
	}
	if len(moves) > 0 {
		w.Threads = append(w.Threads, stepped.Thread{Kind: "others", Run: func() uint64 {
			for _, move := range moves {
				move()
			}
			return 0
		}})
	}
	w.Check = func(waiting bool) string {
		calm, there := len(moves) == 0, first == [3]uint64{1, 1, 1}
		switch {
		case wrong != "":
			return wrong
		case waiting:
			return "a goroutine does not end"
		case calm && removers == 0 && (wins == 0) != there:
			return fmt.Sprintf("%d winners, and the key was there before: %v", wins, there)
		}
		for i := range last {
			if got, want := f.counters.get(uint64(i)*stride), last[i]+uint64(adders-removers); got != want {
				return fmt.Sprintf("counter %d is %d at last, want %d", i, got, want)
			}
		}
		return ""
	}
	return w
}
