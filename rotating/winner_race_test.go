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

var races = flag.Int("races", 20_000, "lockstep races in TestOneWinnerInLockstep, of each kind")

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
			winners, births := raceAdders(c.goroutines, rounds, c.turns, c.others)
			t.Logf("%d races, %d births: keys by number of winners %v", rounds, births, winners)
			if len(winners) != 1 || winners[1] != rounds {
				t.Errorf("keys by number of winners: %v, want exactly one for each of %d", winners, rounds)
			}
		})
	}
}

func raceAdders(goroutines, rounds int, turns, others bool) (winners map[int]int, births uint64) {
	// Two keys a generation, one of them another's, at one key a layer: 18 layers at a
	// time, and 24 are allowed. With fewer generations, full layers would take more.
	const generations = 8
	winners = map[int]int{}
	var c clock
	n := uint64(1000)
	if others {
		n = generations // one key a layer
	}
	f := must(time.Hour, generations, n, 1e-9, c.option())
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
					c.sleep(f.length)
				}
				if others && (i+g)%2 == 0 {
					f.Add(other[:])
				}
				if f.Add(key[:]) {
					won.Add(1)
				}
				wait()
				if g == 0 {
					winners[int(won.Swap(0))]++
					if others && !turns { // or there is no more room after a few races
						c.sleep(10 * f.length)
					}
				}
				wait()
			}
		})
	}
	wg.Wait()
	return winners, f.born
}
