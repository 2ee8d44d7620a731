package interleavings

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/stepped"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
)

// A state is a moment while goroutines add the same key. The key has at most eight bits. Bit i of a
// uint8 stands for the i-th place of the world.
type state struct {
	bits   uint8 // set in the filter
	others uint8 // that the adds of other keys may still set
	adders [3]adder
}

// An adder is in the middle of an add, or has returned. The code is deterministic, so the values
// that it has loaded determine where it is. A step calls it again, returns the same values, and lets
// it do one operation more.
type adder struct {
	steps     int8
	found     [9]uint8 // by each load, and each OR whose result it looks at
	done, won bool
}

// A world is a key and a filter.
type world struct {
	add   func() bool
	base  unsafe.Pointer // of the filter's words
	place []place        // of the key's bits
}

type place struct{ word, bit uint64 }

// in returns the key's bits that are set in a word's value. out is its inverse.
func (w *world) in(word, value uint64) (set uint8) {
	for i, p := range w.place {
		if p.word == word {
			set |= uint8(value>>p.bit&1) << i
		}
	}
	return set
}

func (w *world) out(word uint64, set uint8) (value uint64) {
	for i, p := range w.place {
		if p.word == word {
			value |= uint64(set>>i&1) << p.bit
		}
	}
	return value
}

// step lets one adder do its next load or OR.
func (w *world) step(s state, t int) state {
	a := &s.adders[t]
	step, found := int8(0), 0
	stepped.Do = func(address *uint64, op stepped.Op, mask uint64) (old uint64) {
		word := uint64(uintptr(unsafe.Pointer(address))-uintptr(w.base)) / 8
		switch {
		case step == a.steps:
			if op != stepped.Set {
				a.found[found] = s.bits & w.in(word, ^uint64(0))
			}
			s.bits |= w.in(word, mask)
			fallthrough
		case step < a.steps:
			if op != stepped.Set {
				old = w.out(word, a.found[found])
				found++
			}
		}
		step++
		return old
	}
	won := w.add()
	stepped.Do = nil
	if a.steps++; step == a.steps {
		*a = adder{done: true, won: won}
	}
	return s
}

// visitAll visits each state that can be reached from the first one, once, and returns their number.
// steps calls to with every state that is one step away. final is true if no step leads to another
// state.
func visitAll[S comparable](first S, steps func(s S, to func(next S)), visit func(s S, final bool)) int {
	seen := map[S]struct{}{first: {}}
	for stack := []S{first}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		final := true
		steps(s, func(next S) {
			if next == s {
				return
			}
			final = false
			if _, ok := seen[next]; !ok {
				seen[next] = struct{}{}
				stack = append(stack, next)
			}
		})
		visit(s, final)
	}
	return len(seen)
}

// explore tries every interleaving and returns how many winners there can be at the end, and
// how many states there were.
func (w *world) explore(t *testing.T, adders int, start, others uint8) (winners [4]bool, states int) {
	states = visitAll(state{bits: start, others: others}, func(s state, to func(state)) {
		for left := s.others; left != 0; left &= left - 1 {
			next := s
			next.others &^= left & -left
			next.bits |= left & -left
			to(next)
		}
		for i := range adders {
			if !s.adders[i].done {
				to(w.step(s, i))
			}
		}
	}, func(s state, final bool) {
		won := 0
		for _, a := range s.adders {
			if a.won {
				won++
			}
			if a.done && s.bits != w.all() {
				t.Fatalf("start %08b, others %08b: an add has returned, and only bits %08b of %08b are set", start, others, s.bits, w.all())
			}
		}
		if final {
			winners[won] = true
		}
	})
	return winners, states
}

// worlds returns keys whose bits and words coincide in different ways.
func worlds(t *testing.T, s bloom.Strategy, m uint64, k int, batch bool) (list []*world) {
	f, err := bloom.NewWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(s))
	require.NoError(t, err)
	seen := map[string]bool{}
	for i := range 2000 {
		key := fmt.Append(nil, i)
		w := &world{base: unsafe.Pointer(unsafe.SliceData(f.Words())), add: func() bool { return f.Add(key) }}
		if batch {
			keys, added := [][]byte{key}, make([]bool, 1)
			w.add = func() bool { return f.AddMany(keys, added) == 1 }
		}
		pattern, words := "", []uint64{}
		for _, position := range f.Scheme().AppendPositions(nil, key) {
			p := place{position / 64, position % 64}
			at := slices.Index(w.place, p)
			if at < 0 {
				at, w.place = len(w.place), append(w.place, p)
			}
			word := slices.Index(words, p.word)
			if word < 0 {
				word, words = len(words), append(words, p.word)
			}
			pattern += fmt.Sprint(at, word, " ")
		}
		if !seen[pattern] {
			seen[pattern] = true
			list = append(list, w)
		}
	}
	return list
}

// custom is a strategy as users define it.
var custom = bloom.NewStrategy("positions", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
	return (h1 + uint64(i)*(h2|1)) >> 7 % m
})})

// A setting is a filter, and how many of its worlds are explored with two and three goroutines.
type setting struct {
	s          bloom.Strategy
	m          uint64
	k          int
	two, three int
}

var settings = []setting{
	{bloom.DoubleHashing, 5, 1, 9, 9},
	{bloom.DoubleHashing, 5, 2, 9, 9},
	{bloom.DoubleHashing, 5, 3, 9, 0},
	{bloom.DoubleHashing, 5, 4, 4, 0},
	{bloom.SeededHashing, 5, 2, 9, 9},
	{bloom.SeededHashing, 5, 3, 9, 0},
	{bloom.Blocked1, 512, 2, 2, 2},
	{bloom.Blocked1, 512, 7, 2, 0},
	{bloom.Blocked2, 512, 2, 2, 2},
	{bloom.Blocked2, 512, 4, 3, 0},
	{bloom.Blocked2, 512, 8, 1, 0},
	{bloom.Blocked4, 512, 4, 2, 0},
	{bloom.Blocked4, 512, 8, 1, 0},
	{bloom.Blocked8, 512, 8, 1, 0},
	{bloom.SplitBlock, 256, 8, 1, 0},
	{custom, 5, 3, 9, 0},
}

// longer is what -long adds.
var longer = []setting{
	{bloom.DoubleHashing, 5, 3, 0, 9},
	{bloom.DoubleHashing, 5, 4, 15, 0},
	{bloom.SeededHashing, 5, 4, 15, 0},
	{bloom.Blocked2, 512, 4, 0, 2},
	{bloom.Blocked4, 512, 4, 9, 0},
	{bloom.Blocked4, 512, 8, 4, 0},
	{custom, 5, 4, 15, 0},
}

// TestEveryInterleaving runs the real Add and AddMany of each strategy in every order of their loads
// and locked ORs: two or three goroutines add one key, from every set of bits, while other keys set up
// to two of its bits. There are never two winners. There is one if no other key interferes, and none if
// the key was present. When an add returns, the key is present.
func TestEveryInterleaving(t *testing.T) {
	if !inSteps(t) {
		return
	}
	if *effort.Long {
		settings = append(settings, longer...)
	}
	starts, states, nobody := 0, 0, 0
	for _, c := range settings {
		before := states
		for _, batch := range []bool{false, true} {
			list := worlds(t, c.s, c.m, c.k, batch)
			for adders, patterns := range map[int]int{2: c.two, 3: c.three} {
				for _, w := range list[:min(patterns, len(list))] {
					w.starts(func(start, others uint8) {
						winners, n := w.explore(t, adders, start, others)
						starts++
						states += n
						there := start == w.all()
						certain := there && winners == [4]bool{0: true} || !there && others == 0 && winners == [4]bool{1: true}
						if !certain && (there || others == 0 || winners[2] || winners[3]) {
							t.Fatalf("%s, k = %d, %d adders, bits %v, set %08b, by other keys %08b: winners %v", c.s, c.k, adders, w.place, start, others, winners)
						}
						if winners[0] && !there {
							nobody++
						}
					})
				}
			}
		}
		t.Logf("%s, m = %d, k = %d: %d states", c.s, c.m, c.k, states-before)
	}
	require.Positive(t, nobody, "starts from which nobody may win, all with another key")
	t.Logf("%d starts, %d states, never a second winner; from %d nobody may win, all with another key", starts, states, nobody)
}

// starts calls try with the bits that are set at the start, and the ones that other keys may set. Without
// -long, keys of many bits start with all or nearly all of them set, or none.
func (w *world) starts(try func(start, others uint8)) {
	for start := 0; start <= int(w.all()); start++ {
		if unset := len(w.place) - bits.OnesCount(uint(start)); len(w.place) > 4 && unset > 2 && start > 0 && !*effort.Long {
			continue
		}
		for others := 0; others <= int(w.all()); others++ {
			if start&others == 0 && bits.OnesCount(uint(others)) <= 2 {
				try(uint8(start), uint8(others))
			}
		}
	}
}

// all is the set of all bits.
func (w *world) all() uint8 { return uint8(1)<<len(w.place) - 1 }
