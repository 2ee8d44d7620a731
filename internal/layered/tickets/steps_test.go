//go:build steps

package tickets

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestLeftInSteps: two goroutines take tickets and use them or give them back, in every order of their
// operations. Left counts no ticket that is taken during the whole call.
func TestLeftInSteps(t *testing.T) {
	const tickets = 3
	switches := 2
	if *testkit.Long {
		switches = 4
	}
	for uses := range 4 { // whether each of the two uses its first ticket; the second it gives back
		stepped.Holds(t, fmt.Sprintf("uses %02b, at most %d switches", uses, switches), func() stepped.World {
			b := New(tickets, tickets)
			b.Left() // gives the words names
			var held stepped.Uint64
			held.Load()
			verdict := ""
			w := stepped.World{Switches: switches}
			for i := range 2 {
				w.Threads = append(w.Threads, stepped.Thread{Kind: fmt.Sprint("worker ", i), Run: func() uint64 {
					for round := range 2 {
						if !b.Take() {
							return uint64(round)
						}
						held.Set(1 << (2*i + round))
						held.And(^uint64(1 << (2*i + round)))
						if round == 0 && uses>>i&1 == 1 {
							b.Use()
						} else {
							b.Give()
						}
					}
					return 2
				}})
			}
			w.Threads = append(w.Threads, stepped.Thread{Kind: "left", Run: func() uint64 {
				before := held.Load()
				left := b.Left()
				if taken := bits.OnesCount64(before & held.Load()); left+uint64(taken) > tickets {
					verdict = fmt.Sprintf("Left counts %d of %d, and %d are taken", left, tickets, taken)
				}
				return left
			}})
			w.Check = func(waiting bool) string {
				used := uint64(bits.OnesCount(uint(uses)))
				switch {
				case waiting:
					return "a goroutine does not end"
				case verdict == "" && b.Left()+used != tickets:
					return fmt.Sprintf("%d are left at last and %d used, of %d", b.Left(), used, tickets)
				case verdict == "" && b.UsedUp():
					return "all are used up"
				}
				return verdict
			}
			return w
		})
	}
}
