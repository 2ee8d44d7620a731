//go:build steps

package tickets

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestCountInSteps: two goroutines take tickets and keep them, lose them or give them back, in every order of their
// operations. Count counts no ticket as left that is taken during the whole call.
func TestCountInSteps(t *testing.T) {
	const tickets = 3
	switches := 2
	if *testkit.Long {
		switches = 4
	}
	fates := []string{"kept", "lost", "given back"} // of the first ticket of each; the second is given back
	for both := range len(fates) * len(fates) {
		fate := [2]string{fates[both%len(fates)], fates[both/len(fates)]}
		stepped.Holds(t, fmt.Sprintf("%v, at most %d switches", fate, switches), func() stepped.World {
			b := New(0, tickets, tickets)
			b.Count() // gives the words names
			var held stepped.Uint64
			held.Load()
			verdict := ""
			w := stepped.World{Switches: switches}
			for i := range 2 {
				w.Threads = append(w.Threads, stepped.Thread{Kind: fmt.Sprint("worker ", i), Run: func() uint64 {
					for round := range 2 {
						ticket := b.Take(uint64(i))
						if ticket == nil {
							return uint64(round)
						}
						held.Set(1 << (2*i + round))
						held.And(^uint64(1 << (2*i + round)))
						switch {
						case round == 1 || fate[i] == "given back":
							ticket.Give()
						case fate[i] == "lost":
							ticket.Lose()
						}
					}
					return 2
				}})
			}
			w.Threads = append(w.Threads, stepped.Thread{Kind: "left", Run: func() uint64 {
				before := held.Load()
				_, left := b.Count()
				if taken := bits.OnesCount64(before & held.Load()); left+uint64(taken) > tickets {
					verdict = fmt.Sprintf("Count counts %d of %d, and %d are taken", left, tickets, taken)
				}
				return left
			}})
			w.Check = func(waiting bool) string {
				taken, left := b.Count()
				kept, lost := uint64(0), uint64(0)
				for _, one := range fate {
					switch one {
					case "kept":
						kept++
					case "lost":
						lost++
					}
				}
				switch {
				case waiting:
					return "a goroutine does not end"
				case verdict == "" && (taken != kept || left+kept+lost != tickets):
					return fmt.Sprintf("%d are left and %d taken at last, %d kept and %d lost, of %d", left, taken, kept, lost, tickets)
				}
				return verdict
			}
			return w
		})
	}
}

// TestTakeInSteps: two goroutines get the two tickets of one cell, in every order of their operations.
func TestTakeInSteps(t *testing.T) {
	stepped.Holds(t, "two tickets for two", func() stepped.World {
		b := &Box{cells: make([]Cell, 1), size: 2}
		b.cells[0].left.Store(2)
		b.Count() // gives the words names
		var got [2]*Cell
		w := stepped.World{Switches: 4}
		for i := range got {
			w.Threads = append(w.Threads, stepped.Thread{Kind: fmt.Sprint("worker ", i), Run: func() uint64 {
				if got[i] = b.Take(0); got[i] == nil {
					return 0
				}
				return 1
			}})
		}
		w.Check = func(bool) string {
			if taken, left := b.Count(); got[0] == nil || got[1] == nil || taken != 2 || left != 0 {
				return fmt.Sprintf("%v: %d are taken and %d left", got, taken, left)
			}
			return ""
		}
		return w
	})
}
