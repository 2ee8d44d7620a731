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

func (h *hand) filter() *Filter {
	strategy := bloom.NewStrategy("two", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		if i%2 == 0 {
			return h1 % m
		}
		return h2 % m
	})})
	clock := func() time.Time { return year(2026).Add(time.Duration(h.hours.Load()) * time.Hour) }
	f := must(4, 0.1, time.Hour, 1, WithClock(clock), WithBloom(bloom.WithStrategy(strategy)))
	if k := f.scheme.Params().K; k != 2 {
		panic(k)
	}
	stepped.Name(&f.turning)
	return f
}

// generation returns the clock's generation without an operation.
func (h *hand) generation() (g int64) {
	stepped.Peek(func() { g = h.hours.Load() })
	return g
}

// TestOneWinnerInSteps: goroutines add the same key while another one lets generations end and adds
// keys of its own. One goroutine wins, at most one within a window, and the key stays for the window.
func TestOneWinnerInSteps(t *testing.T) {
	for _, c := range []struct {
		adders, births, switches int
		long                     bool
	}{{2, 1, 2, false}, {2, 3, 1, false}, {3, 1, 2, true}, {2, 1, 3, true}, {2, 3, 2, true}} {
		if c.long && !*testkit.Long {
			continue
		}
		for start := range 4 {
			stepped.Holds(t, fmt.Sprintf("%+v, bits %02b", c, start), func() stepped.World {
				var h hand
				f := h.filter()
				word := &(*f.live.Load())[0].Words()[0]
				word.Or(uint64(start&1)<<1 | uint64(start>>1)<<2)
				type win struct{ from, to int64 }
				var wins []win
				verdict := ""
				w := stepped.World{Switches: c.switches}
				for range c.adders {
					w.Threads = append(w.Threads, stepped.Thread{Kind: "add", Run: func() uint64 {
						from := h.generation()
						if !f.add(1, 2, false) {
							return 0
						}
						to := h.generation()
						for _, other := range wins {
							if max(to, other.to)-min(from, other.from) <= 1 {
								verdict = "two winners within a window"
							}
						}
						wins = append(wins, win{from, to})
						stepped.Peek(func() {
							if to-from <= 1 && !f.contains(1, 2) {
								verdict = "a key is lost within the window"
							}
						})
						return uint64(1 + 8*from + 64*to)
					}})
				}
				w.Threads = append(w.Threads, stepped.Thread{Kind: "turn", Run: func() uint64 {
					for i := range c.births {
						h.hours.Add(1)
						f.add(uint64(8+i), uint64(16+i), false)
					}
					return 0
				}})
				w.Check = func(waiting bool) string {
					switch {
					case waiting:
						return "a goroutine does not end"
					case verdict == "" && len(wins) == 0 && start != 3:
						return "no winner"
					}
					return verdict
				}
				return w
			})
		}
	}
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
