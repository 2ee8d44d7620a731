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
var races = flag.Int("races", 0, "so many lockstep races for each of DoubleHashing, Blocked2 and Blocked4, a quarter of it or less for each of the rest")

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
		{2, rounds / 4, Params{M: 1 << 14, K: 7}, triple, 16},
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
		{2, rounds / 4, Params{M: 1 << 12, K: 7}, customDouble, 1},
		{2, rounds / 4, Params{M: 1 << 12, K: 20}, customDouble, 1},
		{2, rounds / 4, Params{M: 1 << 12, K: 7}, customSeeded, 1},
		{2, rounds / 16, Params{M: 5, K: 7}, customDouble, 1},
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
