package bloom

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

// races asks for the long version of all tests about the one winner.
var races = flag.Int("races", 0, "so many lockstep races for each of DoubleHashing, Blocked2 and Blocked4, a quarter of it or less for each of the rest, and longer explorations")

// The model of an add: the two passes as they stand above the kernels in
// strategy.go, one load or one locked instruction a step, every interleaving tried.

// A rule is how an adder decides. The real one is twoPasses; onePass is Guava's,
// kept here to show that the explorer finds its two winners.
type rule int

const (
	twoPasses rule = iota
	onePass        // set each bit in turn; won if any of them was new
)

// An adder is one thread of the model: where it is, the bit it remembers, and
// whether it has won so far.
type adder struct {
	pc, last int8
	won      bool
}

// world is a state of the model: the bits of the key, its adders, and the bits
// that another key may still set.
type world struct {
	bits, others uint8
	adders       [3]adder
}

const noneLast int8 = -1

// step advances one adder of a key whose probes are at the given bits, and
// reports whether it had anything left to do.
func (w *world) step(r rule, probes []int8, t int) bool {
	a := &w.adders[t]
	k := int8(len(probes))
	set := func(bit int8) (flipped bool) {
		flipped = w.bits>>bit&1 == 0
		w.bits |= 1 << bit
		return flipped
	}
	if r == onePass {
		if a.pc == k {
			return false
		}
		a.won = set(probes[a.pc]) || a.won
		a.pc++
		return true
	}
	switch {
	case a.pc < k: // first pass: look
		if bit := probes[a.pc]; w.bits>>bit&1 == 0 {
			a.last = bit
		}
		a.pc++
		if a.pc == k && a.last == noneLast {
			a.pc = 2*k + 1 // nothing lacks
		}
	case a.pc < 2*k: // second pass: set all but the remembered one
		if bit := probes[a.pc-k]; bit != a.last {
			set(bit)
		}
		a.pc++
	case a.pc == 2*k: // flip that one
		a.won = set(a.last)
		a.pc++
	default:
		return false
	}
	return true
}

// explore visits every state that can be reached and returns how many winners
// the final ones have, as a set, and how many states there were.
func explore(r rule, probes []int8, threads int, start, others uint8) (winners map[int]bool, states int) {
	first := world{bits: start, others: others}
	for t := range threads {
		first.adders[t].last = noneLast
	}
	winners = map[int]bool{}
	seen := map[world]bool{first: true}
	for stack := []world{first}; len(stack) > 0; {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		moved := false
		visit := func(next world) {
			moved = true
			if !seen[next] {
				seen[next] = true
				stack = append(stack, next)
			}
		}
		for bit := range int8(8) { // another key sets one of its bits
			if w.others>>bit&1 == 1 {
				next := w
				next.others &^= 1 << bit
				next.bits |= 1 << bit
				visit(next)
			}
		}
		for t := range threads {
			if next := w; next.step(r, probes, t) {
				visit(next)
			}
		}
		if !moved {
			n := 0
			for t := range threads {
				if w.adders[t].won {
					n++
				}
			}
			winners[n] = true
		}
	}
	return winners, len(seen)
}

// patterns returns every way in which k probes can fall on bits, up to the
// numbering of the bits: 01, 00; 012, 001, 010, 011, 000; …
func patterns(k int) [][]int8 {
	out := [][]int8{{}}
	for range k {
		var longer [][]int8
		for _, p := range out {
			top := int8(-1)
			for _, bit := range p {
				top = max(top, bit)
			}
			for bit := int8(0); bit <= top+1; bit++ {
				longer = append(longer, append(append([]int8{}, p...), bit))
			}
		}
		out = longer
	}
	return out
}

// TestOneWinnerInEveryInterleaving exhausts the model: 2 and 3 adders of up to 4
// probes, from every start, for every way in which the probes coincide, and with
// every set of bits that another key may set meanwhile.
func TestOneWinnerInEveryInterleaving(t *testing.T) {
	worlds, states := 0, 0
	for threads := 2; threads <= 3; threads++ {
		for k := 1; k <= 4; k++ {
			for _, probes := range patterns(k) {
				var used uint8
				for _, bit := range probes {
					used |= 1 << bit
				}
				for start := uint8(0); start <= used; start++ {
					for others := uint8(0); others <= used; others++ {
						if start&^used != 0 || others&^used != 0 || start&others != 0 {
							continue
						}
						winners, n := explore(twoPasses, probes, threads, start, others)
						worlds++
						states += n
						for w := range winners {
							switch {
							case start == used && w != 0:
								t.Fatalf("%d adders, probes %v, bits %b: a key that was there is new", threads, probes, start)
							case w > 1:
								t.Fatalf("%d adders, probes %v, bits %b, others %b: %d winners", threads, probes, start, others, w)
							case start != used && others == 0 && w != 1:
								t.Fatalf("%d adders, probes %v, bits %b: no winner", threads, probes, start)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d starting points, %d states, never a second winner", worlds, states)
}

// TestExplorerFindsTwoWinners shows that the explorer can fail: with Guava's rule
// two adders of two bits both win, and with another key in between nobody wins.
func TestExplorerFindsTwoWinners(t *testing.T) {
	if winners, _ := explore(onePass, []int8{0, 1}, 2, 0, 0); !winners[2] {
		t.Fatalf("one pass: %v winners, want 2 among them", winners)
	}
	if winners, _ := explore(twoPasses, []int8{0, 1}, 2, 0, 0b10); !winners[0] {
		t.Fatalf("with another key: %v winners, want 0 among them", winners)
	}
}

// race lets goroutines add the same new keys in lockstep, and counts, key by key,
// how many of them were told that it is new. add(f, i) adds key i to a filter
// that is empty at first; fresh empties it again every so many keys.
func race(goroutines, rounds int, params Params, s Strategy, perFilter int) (winners map[int]int) {
	winners = map[int]int{}
	f, err := NewWithParams(params, WithStrategy(s))
	if err != nil {
		panic(err)
	}
	b := lockstep.Line{Runners: uint64(goroutines)}
	won := make([]atomic.Int32, perFilter)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			step := uint64(0)
			var key [40]byte
			for base := 0; base < rounds; base += perFilter {
				for i := range perFilter {
					key40(&key, uint64(base+i))
					step++
					b.Wait(step)
					for range mix(uint64(base+i)) >> (8 * g) % 16 { // not always in the same order
						runtime.KeepAlive(&key)
					}
					if f.Add(key[:]) {
						won[i].Add(1)
					}
				}
				step++
				b.Wait(step)
				if g == 0 {
					for i := range won {
						winners[int(won[i].Swap(0))]++
					}
					f.Clear()
				}
				step++
				b.Wait(step)
			}
		})
	}
	wg.Wait()
	return winners
}

// TestOneWinnerInLockstep races the real code. The filters are so empty that a
// false positive is out of the question (below 1e-9 in all rounds together), so
// that every key must have exactly one winner.
func TestOneWinnerInLockstep(t *testing.T) {
	rounds := effort.Times(1<<13, 1<<15, 1<<17)
	if *races > 0 {
		rounds = *races
	}
	for _, c := range []struct {
		goroutines, rounds int
		params             Params
		s                  Strategy
		perFilter          int
	}{
		{2, rounds, Params{M: 1 << 14, K: 7}, DoubleHashing, 16},
		{2, rounds / 4, Params{M: 1 << 14, K: 7}, SeededHashing, 16},
		{2, rounds / 4, Params{M: 1 << 14, K: 7}, custom, 16},
		{3, rounds / 16, Params{M: 1 << 14, K: 7}, DoubleHashing, 16},
		{8, rounds / 64, Params{M: 1 << 14, K: 7}, DoubleHashing, 16},
		{2, rounds / 4, Params{M: 1 << 14, K: 8}, Blocked1, 8},
		{2, rounds, Params{M: 1 << 14, K: 8}, Blocked2, 8},
		{2, rounds, Params{M: 1 << 14, K: 8}, Blocked4, 8},
		{2, rounds / 4, Params{M: 1 << 14, K: 16}, Blocked8, 8},
		{3, rounds / 16, Params{M: 512, K: 24}, Blocked4, 1},
		{2, rounds, Params{M: 1 << 14, K: 8}, SplitBlock, 8},
		{3, rounds / 16, Params{M: 256, K: 8}, SplitBlock, 1},
		// Most of the probes coincide: 7 on 5 bits. One key to a filter, for a
		// second one might be there already.
		{2, rounds / 4, Params{M: 5, K: 7}, DoubleHashing, 1},
		{2, rounds / 16, Params{M: 5, K: 7}, SeededHashing, 1},
		// Two keys of these may coincide in all positions: one key to a filter.
		{2, rounds / 4, Params{M: 1 << 12, K: 7}, ownDouble, 1},
		{2, rounds / 4, Params{M: 1 << 12, K: 20}, ownDouble, 1},
		{2, rounds / 4, Params{M: 1 << 12, K: 8}, ownBlocked2, 1},
		{2, rounds / 4, Params{M: 1 << 12, K: 7}, ownSeeded, 1},
		{2, rounds / 16, Params{M: 5, K: 7}, ownDouble, 1},
	} {
		t.Run(fmt.Sprintf("goroutines=%d/strategy=%s/m=%d", c.goroutines, c.s, c.params.M), func(t *testing.T) {
			c.rounds += -c.rounds & (c.perFilter - 1) // whole filters
			winners := race(c.goroutines, c.rounds, c.params, c.s, c.perFilter)
			t.Logf("%d races: keys by number of winners %v", c.rounds, winners)
			if winners[1] != c.rounds {
				t.Errorf("keys by number of winners: %v, want exactly one for each of %d", winners, c.rounds)
			}
		})
	}
}
