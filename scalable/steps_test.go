//go:build steps

package scalable

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// These tests run the real code of adds in every order of its operations. checks/proof/interleavings compiles
// it so that the tests decide which goroutine goes on. A box of tickets is one operation.

// A race is what goroutines have added to one filter.
type race struct {
	f       *Filter
	winners int
	refused [3]bool // keys
	wrong   string
}

// key returns the digest of a key: its two bits in each layer.
func (r *race) key(k int) (h1, h2 uint64) { return uint64(2*k + 1), uint64(2*k + 2) }

func (r *race) there(k int) bool {
	h1, h2 := r.key(k)
	return r.f.layers.Load().Youngest(h1, h2, 0) != nil
}

// begin makes a filter for one key, with two bits per key, and sets bits of key 0.
func (r *race) begin(start int, made func(n uint64, p float64, opts ...bloom.Option) *Filter) {
	strategy := bloom.NewStrategy("two", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		if i == 0 {
			return h1 % m
		}
		return h2 % m
	})})
	r.f = made(1, 0.02, bloom.WithStrategy(strategy))
	if k := r.f.scheme.Params().K; k != 2 {
		panic(k)
	}
	stepped.Name(&r.f.growing)
	h1, h2 := r.key(0)
	for bit, pos := range []uint64{h1, h2} {
		(*r.f.layers.Load())[0].Words()[0].Or(uint64(start>>bit&1) << pos)
	}
}

// add is a goroutine that adds a key.
func (r *race) add(k int) stepped.Thread {
	return stepped.Thread{Kind: string(rune('A' + k)), Run: func() uint64 {
		won, err := r.f.add(r.key(k))
		stepped.Peek(func() {
			if there := r.there(k); there != (err == nil) {
				r.wrong = "the key is present, and its add returned an error, or the other way round"
			}
		})
		switch {
		case won:
			if k == 0 {
				r.winners++
			}
			return 1
		case err != nil:
			r.refused[k] = true
			return 2
		}
		return 0
	}}
}

func (r *race) verdict(waiting bool, wins int) string {
	switch {
	case r.wrong != "":
		return r.wrong
	case waiting:
		return "a goroutine does not end"
	case r.winners > wins:
		return "a second winner"
	case r.winners < wins:
		return "no winner"
	}
	return ""
}

// TestOneWinnerInSteps: goroutines add the same key, from every state of its bits, while layers are
// added: the first has room for one key.
func TestOneWinnerInSteps(t *testing.T) {
	for _, c := range []struct {
		keys     []int
		switches int
		long     bool
	}{{[]int{0, 0}, 0, false}, {[]int{0, 0, 1}, 1, false}, {[]int{0, 0, 1}, 2, true}, {[]int{0, 0, 0}, 2, true}} {
		if c.long && !*testkit.Long {
			continue
		}
		for start := range 4 {
			stepped.Holds(t, fmt.Sprintf("keys %v, at most %d switches, bits %02b", c.keys, c.switches, start), func() stepped.World {
				r := &race{}
				r.begin(start, must)
				w := stepped.World{Switches: c.switches, Check: func(waiting bool) string {
					wins := 1
					if start == 3 {
						wins = 0
					}
					return r.verdict(waiting, wins)
				}}
				for _, k := range c.keys {
					w.Threads = append(w.Threads, r.add(k))
				}
				return w
			})
		}
	}
}

// TestFullInSteps: there is room for one key, and goroutines add the same key or another.
func TestFullInSteps(t *testing.T) {
	for _, c := range []struct {
		keys     []int
		switches int
		long     bool
	}{{[]int{0, 0}, 0, false}, {[]int{0, 1}, 0, false}, {[]int{0, 0, 0}, 2, false}, {[]int{0, 0, 1}, 2, false}, {[]int{0, 0, 0}, 3, true}, {[]int{0, 0, 1}, 3, true}} {
		if c.long && !*testkit.Long {
			continue
		}
		stepped.Holds(t, fmt.Sprintf("keys %v, at most %d switches", c.keys, c.switches), func() stepped.World {
			r := &race{}
			r.begin(0, oneLayer)
			w := stepped.World{Switches: c.switches, Check: func(waiting bool) string {
				there := 0
				for k := range 2 {
					if r.there(k) {
						if there++; r.refused[k] {
							return "an add is refused, and another one adds its key"
						}
					}
				}
				if there != 1 {
					return "there is room for one key, want one key"
				}
				return r.verdict(waiting, r.winners)
			}}
			for _, k := range c.keys {
				w.Threads = append(w.Threads, r.add(k))
			}
			return w
		})
	}
}
