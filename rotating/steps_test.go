//go:build steps

package rotating

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// These tests run the real code in every order of its operations. checks/proof/interleavings compiles it so
// that the tests decide which goroutine goes on. A box of tickets is one operation.

// A hand is a clock that counts generations of an hour. A window has one generation.
type hand struct{ hours stepped.Int64 }

func (h *hand) filter(opts ...bloom.Option) *Filter {
	strategy := bloom.NewStrategy("two", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		if i%2 == 0 {
			return h1 % m
		}
		return h2 % m
	})})
	clock := func() time.Time { return year(2026).Add(time.Duration(h.hours.Load()) * time.Hour) }
	f := must(1, 0.1, time.Hour, 1, WithClock(clock), WithBloom(append(opts, bloom.WithStrategy(strategy))...))
	if k := f.scheme.Params().K; k != 2 {
		panic(k)
	}
	return f
}

// TestContainsInSteps: a key that a goroutine renews is found while layers are added and forgotten.
func TestContainsInSteps(t *testing.T) {
	births, switches := 3, 3
	if *testkit.Long {
		births, switches = 4, 5
	}
	stepped.Holds(t, fmt.Sprintf("at most %d switches", switches), func() stepped.World {
		var h hand
		f := h.filter()
		f.add(1, 2, false)
		missed := false
		return stepped.World{Switches: switches, Threads: []stepped.Thread{
			{Kind: "renew", Run: func() uint64 {
				for range births {
					h.hours.Add(1)
					f.add(1, 2, true)
				}
				return 0
			}},
			{Kind: "look", Run: func() uint64 {
				if !f.contains(1, 2) {
					missed = true
				}
				return 0
			}},
			{Kind: "look in a batch", Run: func() uint64 {
				if f.remembered().Youngest(1, 2, 0) == nil {
					missed = true
				}
				return 0
			}},
		}, Check: func(waiting bool) string {
			if missed || waiting {
				return fmt.Sprintf("missed: %v; a goroutine does not end: %v", missed, waiting)
			}
			return ""
		}}
	})
}
