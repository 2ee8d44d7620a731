package counting

import (
	"encoding/binary"
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

var races = flag.Int("races", 5000, "lockstep races in TestOneWinnerInLockstep, of each kind")

// TestOneWinnerInLockstep races the real code: goroutines add the same new key, and then
// each removes it again. The filters are so empty that each key must have exactly one
// winner, each Remove must find it, and then nothing may be left. In the second half of
// the cases each also adds and removes a key of its own all the time.
func TestOneWinnerInLockstep(t *testing.T) {
	for _, c := range []struct {
		name       string
		goroutines int
		strategy   bloom.Strategy
		others     bool
	}{
		{"two", 2, bloom.DoubleHashing, false},
		{"three", 3, bloom.DoubleHashing, false},
		{"two, one line", 2, bloom.Blocked2, false},
		{"two, and others", 2, bloom.DoubleHashing, true},
		{"three, and others, one line", 3, bloom.Blocked4, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rounds := *races
			if testing.Short() || lockstep.RaceDetector {
				rounds = min(rounds, 200)
			}
			m := uint64(1 << 14)
			f, err := NewWithParams(bloom.Params{M: m, K: 8}, bloom.WithStrategy(c.strategy))
			if err != nil {
				t.Fatal(err)
			}
			winners, missing := raceAdders(f, c.goroutines, rounds, c.others)
			t.Logf("%d races: keys by number of winners %v", rounds, winners)
			lost := 0
			if c.others { // a counter in common with another key: the one exception
				lost = max(10, rounds/100)
			}
			if winners[0] > lost || winners[0]+winners[1] != rounds {
				t.Errorf("keys by number of winners: %v, want exactly one for each of %d", winners, rounds)
			}
			if missing > 0 {
				t.Errorf("%d times, Remove did not find a key that was there", missing)
			}
			if ones := f.Stats().Ones; ones != 0 {
				t.Errorf("%d counters are not 0 after everything was removed", ones)
			}
		})
	}
}

func raceAdders(f *Filter, goroutines, rounds int, others bool) (winners map[int]int, missing int64) {
	winners = map[int]int{}
	line := lockstep.Line{Runners: uint64(goroutines)}
	var won atomic.Int32
	var notThere atomic.Int64
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
				if others {
					f.Add(other[:])
				}
				if f.Add(key[:]) {
					won.Add(1)
				}
				if others && !f.Remove(other[:]) {
					notThere.Add(1)
				}
				wait()
				if g == 0 {
					winners[int(won.Swap(0))]++
				}
				if !f.Remove(key[:]) {
					notThere.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return winners, notThere.Load()
}

// TestRemovedTwice: two goroutines remove a key that was added once, against the rules. As long as
// one of its counters is its own, one of them notices and puts back what it took: a key that
// shares the first counter stays.
func TestRemovedTwice(t *testing.T) {
	rounds := *races
	if testing.Short() || lockstep.RaceDetector {
		rounds = min(rounds, 200)
	}
	f, err := NewWithParams(bloom.Params{M: 256, K: 4})
	if err != nil {
		t.Fatal(err)
	}
	var twice, neighbour [16]byte
	var b, c buffer
	positions := f.positions(&b, key(&twice, 0))
	for i := uint64(1); ; i++ {
		others := f.positions(&c, key(&neighbour, i))
		if slices.Contains(others, positions[0]) && !slices.ContainsFunc(positions[1:], func(x uint64) bool { return slices.Contains(others, x) }) {
			break
		}
	}
	line := lockstep.Line{Runners: 2}
	var removed atomic.Int32
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			for i := range uint64(rounds) {
				if g == 0 {
					f.Add(twice[:])
					f.Add(neighbour[:])
				}
				line.Wait(3*i + 1)
				lockstep.Dawdle(int(i), g)
				if f.Remove(twice[:]) {
					removed.Add(1)
				}
				line.Wait(3*i + 2)
				if g == 0 {
					if n := removed.Swap(0); n != 1 {
						t.Errorf("round %d: removed %d times", i, n)
					}
					if !f.Remove(neighbour[:]) || f.Stats().Ones != 0 {
						t.Errorf("round %d: the key next to it is damaged", i)
					}
				}
				line.Wait(3*i + 3)
			}
		})
	}
	wg.Wait()
}
