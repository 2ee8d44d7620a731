package rotating

import (
	"encoding/binary"
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/lockstep"
)

var races = flag.Int("races", 5000, "lockstep races in TestOneWinnerInLockstep, of each kind")

// TestOneWinnerInLockstep races the real code while generations end and layers fill, each
// time with a layer that was cleared and is used again. The rate is so small that each key
// must have exactly one winner.
func TestOneWinnerInLockstep(t *testing.T) {
	for _, c := range []struct {
		name       string
		goroutines int
		turns      bool // a goroutine turns the clock to the next generation, before its add
		others     bool // the goroutines also add another key, each its own, and there is room for one
	}{
		{"a generation ends in each race", 2, true, false},
		{"three, a generation ends in each race", 3, true, false},
		{"a layer fills in each race", 2, false, true},
		{"both", 2, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rounds := *races
			if testing.Short() || lockstep.RaceDetector {
				rounds = min(rounds, 200)
			}
			r := raceAdders(c.goroutines, rounds, c.turns, c.others)
			t.Logf("%d races, %d births: keys by number of winners %v, where there was no more room %v", rounds, r.births, r.winners, r.crowded)
			if r.winners[0] > 0 || r.winners[1]+r.crowded[0]+r.crowded[1] != rounds {
				t.Errorf("keys by number of winners: %v and, without room, %v; want exactly one for each of %d, or none where there was no room",
					r.winners, r.crowded, rounds)
			}
			if r.winners[1] < rounds/2 {
				t.Errorf("only %d of %d races had room: this test does not try what it is for", r.winners[1], rounds)
			}
		})
	}
}

// A raceResult has how many keys had no winner, one, two and so on: of the races in which
// there was room for all, and of the others.
type raceResult struct {
	winners, crowded map[int]int
	births           uint64
}

// raceAdders lets goroutines add the same new keys in lockstep. Where others add keys too,
// each layer is for one key, so that different keys are never in the same layer, and the one
// exception of Add cannot happen. But an add that wins in a layer which is not the newest any
// more takes the room of a second key, so that two goroutines which overtake each other
// again and again can use up all layers. Then keys share the newest one, and a key may have
// no winner: those races are counted apart.
func raceAdders(goroutines, rounds int, turns, others bool) raceResult {
	const generations = 8
	r := raceResult{winners: map[int]int{}, crowded: map[int]int{}}
	var c clock
	n := uint64(1000)
	if others {
		n = generations // one key a layer
	}
	f := must(n, 1e-15, time.Hour, generations, c.option())
	full := func() bool { return len(*f.live.Load()) == f.plan.maxLayers() }
	line := lockstep.Line{Runners: uint64(goroutines)}
	var won atomic.Int32
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			step := uint64(0)
			wait := func() { step++; line.Wait(step) }
			var key, other [16]byte
			for i := range rounds {
				binary.LittleEndian.PutUint64(key[:], uint64(i))
				binary.LittleEndian.PutUint64(other[:], uint64(i))
				other[8] = byte(g + 1)
				wait()
				lockstep.Dawdle(i, g)
				if turns && i%goroutines == g {
					c.sleep(f.time.length)
				}
				if others && (i+g)%2 == 0 {
					f.Add(other[:])
				}
				if f.Add(key[:]) {
					won.Add(1)
				}
				wait()
				if g == 0 {
					result := r.winners
					if full() { // no layer is forgotten before the next turn, so it was not full before
						result = r.crowded
					}
					result[int(won.Swap(0))]++
					if others && (!turns || i%4 == 3) { // all is forgotten: no more than n keys come in a window
						c.sleep((generations + 2) * f.time.length)
					}
				}
				wait()
			}
		})
	}
	wg.Wait()
	r.births = f.serial
	return r
}
