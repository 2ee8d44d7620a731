package interleavings

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/stepped"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A world is a key and a filter.
type world struct {
	f     *bloom.BloomFilter
	add   func() bool
	place []place // of the key's bits
}

type place struct{ word, bit uint64 }

// has reports whether all bits of the key are set.
func (w *world) has() bool {
	words := w.f.Words()
	return !slices.ContainsFunc(w.place, func(p place) bool { return words[p.word].Load()>>p.bit&1 == 0 })
}

// explore lets goroutines add the key in every order of their operations, from a set of bits, while other
// keys set some more. Bit i of a set stands for place i. It returns how many winners there can be at the end,
// and how many states there were.
func (w *world) explore(t *testing.T, adders int, start, others uint16) (winners [4]bool, states int) {
	states, wrong := stepped.Explore(t, func() stepped.World {
		words := w.f.Words()
		for i := range words {
			words[i].Store(0)
		}
		for i, p := range w.place {
			if start>>i&1 == 1 {
				words[p.word].Or(1 << p.bit)
			}
		}
		won, missed := 0, ""
		here := stepped.World{Check: func(bool) string {
			winners[won] = true
			return missed
		}}
		for range adders {
			here.Threads = append(here.Threads, stepped.Thread{Kind: "add", Run: func() (yes uint64) {
				if w.add() {
					won++
					yes = 1
				}
				stepped.Peek(func() {
					if !w.has() {
						missed = "an add has returned, and not all bits are set"
					}
				})
				return yes
			}})
		}
		for i, p := range w.place {
			if others>>i&1 == 1 {
				here.Threads = append(here.Threads, stepped.Thread{Kind: fmt.Sprint("other", i), Run: func() uint64 {
					any(&words[p.word]).(interface{ Set(mask uint64) }).Set(1 << p.bit)
					return 0
				}})
			}
		}
		return here
	})
	require.Empty(t, wrong, "start %08b, others %08b", start, others)
	return winners, states
}

// worlds returns keys whose bits and words coincide in different ways.
func worlds(t *testing.T, s bloom.Strategy, m uint64, k int, batch bool) (list []*world) {
	f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(s)))
	require.NoError(t, err)
	seen := map[string]bool{}
	for i := range 2000 {
		key := fmt.Append(nil, i)
		w := &world{f: f, add: func() bool { return f.Add(key) }}
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
var custom = bloom.NewStrategy("positions", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
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
	{bloom.Blocked, 512, 2, 2, 2},
	{bloom.Blocked, 512, 4, 3, 0},
	{bloom.Blocked, 512, 8, 1, 0},
	{bloom.Blocked, 512, 16, 1, 0}, // eight words
	{bloom.SplitBlock, 256, 8, 1, 0},
	{custom, 5, 3, 9, 0},
}

// longer is what -long adds.
var longer = []setting{
	{bloom.DoubleHashing, 5, 3, 0, 9},
	{bloom.DoubleHashing, 5, 4, 15, 0},
	{bloom.SeededHashing, 5, 4, 15, 0},
	{bloom.Blocked, 512, 4, 0, 2},
	{bloom.Blocked, 512, 8, 4, 0},
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
	if *testkit.Long {
		settings = append(settings, longer...)
	}
	for _, s := range bloom.Strategies() {
		require.True(t, slices.ContainsFunc(settings, func(c setting) bool { return c.s == s }), "%s is in no setting", s)
	}
	starts, states, nobody := 0, 0, 0
	for _, c := range settings {
		before := states
		for _, batch := range []bool{false, true} {
			list := worlds(t, c.s, c.m, c.k, batch)
			for adders, patterns := range map[int]int{2: c.two, 3: c.three} {
				for _, w := range list[:min(patterns, len(list))] {
					w.starts(func(start, others uint16) {
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

// starts calls try with the bits that are set at the start, and the ones that other keys may set. Keys of many bits
// start with all or nearly all of them set, or none: there are 65,536 sets of 16 bits.
func (w *world) starts(try func(start, others uint16)) {
	few, many := 2, 4
	if len(w.place) > 8 {
		few = 1
	}
	if *testkit.Long {
		many = 8
	}
	for start := 0; start <= int(w.all()); start++ {
		if unset := len(w.place) - bits.OnesCount(uint(start)); len(w.place) > many && unset > few && start > 0 {
			continue
		}
		for others := 0; others <= int(w.all()); others++ {
			if start&others == 0 && bits.OnesCount(uint(others)) <= few {
				try(uint16(start), uint16(others))
			}
		}
	}
}

// all is the set of all bits.
func (w *world) all() uint16 { return uint16(1)<<len(w.place) - 1 }
