//go:build steps

package layered

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// These tests run the real code of adds in every order of its operations. checks/proof/interleavings compiles
// it so that the tests decide which goroutine goes on. A box of tickets is one operation.

// A race is what goroutines have added to one list of layers. A window has one generation of an hour.
type race struct {
	g       *Growing
	hours   stepped.Int64
	wins    map[uint64][]win // by key
	refused int
	wrong   string
}

// A win is the generations at the beginning and at the end of an add that returned true.
type win struct{ from, to int64 }

var errFull = errors.New("full")

// newRace makes a list whose first layer has room for that many keys, and later ones for four. Each key has
// two bits. There is memory for that many layers.
func newRace(room uint64, memory int) *race {
	strategy := bloom.NewStrategy("two", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
		if i%2 == 0 {
			return h1 % m
		}
		return h2 % m
	})})
	empty := func() *bloom.BloomFilter {
		f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: 64, K: 2}, bloom.WithStrategy(strategy)))
		if err != nil {
			panic(err)
		}
		return f
	}
	r := &race{g: new(Growing), wins: map[uint64][]win{}}
	r.g.Remembers = 1
	r.g.Next = func(now Layers, generation int64) (Layers, error) {
		for len(now) > 0 && now[0].Generation < generation-r.g.Remembers {
			now = now[1:]
		}
		if len(now) == memory {
			return nil, errFull
		}
		return append(Layers(nil), now...).Append(empty(), generation, 0, 4), nil
	}
	stepped.Name(&r.g.growing)
	r.g.Begin(Layers(nil).Append(empty(), 0, 0, room))
	return r
}

// generation returns the clock's generation without an operation.
func (r *race) generation() (g int64) {
	stepped.Peek(func() { g = r.hours.Load() })
	return g
}

func (r *race) there(key uint64) bool {
	l := r.g.Load().Youngest(key, 2*key, 0)
	return l != nil && l.Generation >= r.g.Oldest(r.g.Load(), r.hours.Load())
}

// add is a goroutine that adds a key, or renews it.
func (r *race) add(key uint64, renew bool) stepped.Thread {
	return stepped.Thread{Kind: fmt.Sprint("add ", key, renew), Run: func() uint64 {
		from := r.generation()
		won, err := r.g.Add(key, 2*key, r.hours.Load(), renew)
		if err != nil {
			r.refused++
			return 1
		}
		to := r.generation()
		stepped.Peek(func() {
			if (to == from || (won || renew) && to-from == 1) && !r.there(key) {
				r.wrong = "a key is lost within the window"
			}
		})
		if !won {
			return 0
		}
		for _, other := range r.wins[key] {
			if max(to, other.to)-min(from, other.from) <= 1 {
				r.wrong = "two winners within a window"
			}
		}
		r.wins[key] = append(r.wins[key], win{from, to})
		return uint64(2 + 8*from + 64*to)
	}}
}

// turn is a goroutine that lets generations end and adds keys of its own.
func (r *race) turn(births int) stepped.Thread {
	return stepped.Thread{Kind: "turn", Run: func() uint64 {
		for i := range births {
			r.hours.Add(1)
			r.g.Add(uint64(8+i), uint64(16+i), r.hours.Load(), false)
		}
		return 0
	}}
}

// TestOneWinnerInSteps: goroutines add the same key while others add layers to the generation, or let
// generations end. One goroutine wins, at most one within a window, and the key stays for the window.
func TestOneWinnerInSteps(t *testing.T) {
	for _, c := range []struct {
		adders, renewers, others, births int
		room                             uint64
		switches                         int
		long                             bool
	}{
		{2, 0, 0, 1, 4, 2, false}, {2, 0, 0, 3, 4, 1, false}, {2, 0, 1, 0, 1, 2, false}, {2, 0, 1, 1, 1, 1, false}, {2, 0, 0, 0, 1, 0, false},
		{0, 2, 0, 1, 4, 2, false}, {1, 1, 1, 0, 1, 2, false},
		{3, 0, 0, 1, 4, 2, true}, {2, 0, 0, 1, 4, 3, true}, {2, 0, 0, 3, 4, 2, true}, {3, 0, 0, 0, 1, 2, true}, {2, 0, 1, 1, 1, 2, true},
		{1, 2, 0, 1, 4, 2, true}, {0, 2, 1, 1, 1, 2, true},
	} {
		if c.long && !*testkit.Long {
			continue
		}
		for start := range 4 {
			stepped.Holds(t, fmt.Sprintf("%+v, bits %02b", c, start), func() stepped.World {
				r := newRace(c.room, 1000)
				word := &(*r.g.Load())[0].Words()[0]
				word.Or(uint64(start&1)<<1 | uint64(start>>1)<<2)
				w := stepped.World{Switches: c.switches}
				for range c.adders {
					w.Threads = append(w.Threads, r.add(1, false))
				}
				for range c.renewers {
					w.Threads = append(w.Threads, r.add(1, true))
				}
				for range c.others {
					w.Threads = append(w.Threads, r.add(5, false))
				}
				if c.births > 0 {
					w.Threads = append(w.Threads, r.turn(c.births))
				}
				w.Check = func(waiting bool) string {
					switch {
					case waiting:
						return "a goroutine does not end"
					case r.wrong == "" && len(r.wins[1]) == 0 && start != 3 && (c.renewers == 0 || c.births == 0):
						return "no winner"
					case c.births == 0 && r.g.Load().Keys() != uint64(len(r.wins[1])+len(r.wins[5])):
						return fmt.Sprintf("%d keys after %v", r.g.Load().Keys(), r.wins)
					}
					return r.wrong
				}
				return w
			})
		}
	}
}

// TestFullInSteps: there is room for one key and no memory for another layer until a generation ends.
// Every add ends. A key is in the filter if and only if an add of it was not refused.
func TestFullInSteps(t *testing.T) {
	for _, c := range []struct {
		keys     []uint64
		turns    bool
		switches int
		long     bool
	}{
		{[]uint64{1, 1}, false, 0, false}, {[]uint64{1, 5}, false, 0, false}, {[]uint64{1, 1, 5}, false, 2, false}, {[]uint64{1, 1}, true, 2, false},
		{[]uint64{1, 1, 5}, false, 3, true}, {[]uint64{1, 1, 5}, true, 2, true}, {[]uint64{1, 1}, true, 4, true},
	} {
		if c.long && !*testkit.Long {
			continue
		}
		stepped.Holds(t, fmt.Sprintf("%+v", c), func() stepped.World {
			memory := 1
			if c.turns {
				memory = 2
			}
			r := newRace(1, memory)
			next := r.g.Next
			r.g.Next = func(now Layers, generation int64) (Layers, error) {
				if generation == now.Newest().Generation {
					return nil, errFull
				}
				return next(now, generation)
			}
			w := stepped.World{Switches: c.switches, Check: func(waiting bool) string {
				there := uint64(0)
				for _, key := range []uint64{1, 5} {
					yes := r.g.Load().Youngest(key, 2*key, 0) != nil
					if yes {
						there++
					}
					if yes != (len(r.wins[key]) > 0) {
						return fmt.Sprintf("key %d is there: %v, wins %v", key, yes, r.wins)
					}
				}
				switch {
				case waiting:
					return "a goroutine does not end"
				case r.g.Load().Keys() != there:
					return fmt.Sprintf("%d keys, want %d", r.g.Load().Keys(), there)
				case !c.turns && there != 1:
					return "there is room for one key, want one key"
				case there+uint64(r.refused) < 2 && c.keys[1] != 1:
					return "a key is neither added nor refused"
				}
				return r.wrong
			}}
			for _, key := range c.keys {
				w.Threads = append(w.Threads, r.add(key, false))
			}
			if c.turns {
				w.Threads = append(w.Threads, stepped.Thread{Kind: "turn", Run: func() uint64 { r.hours.Add(1); return 0 }})
			}
			return w
		})
	}
}
