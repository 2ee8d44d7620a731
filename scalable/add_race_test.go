package scalable

import (
	"encoding/binary"
	"errors"
	"flag"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/lockstep"
)

var races = flag.Int("races", 2000, "lockstep races in TestOneWinnerInLockstep, of each kind")

// TestOneWinnerInLockstep races the real code. Every layer takes one key, so that each
// race is one for a birth too; and layers of 5, so that most are not. Each key must have
// exactly one winner.
func TestOneWinnerInLockstep(t *testing.T) {
	for _, c := range []struct {
		name       string
		goroutines int
		n          uint64
		births     bool // the adders also let another key in, each its own
	}{
		{"birth in each race", 2, 1, false},
		{"birth in each race, by others", 2, 1, true},
		{"three, birth in each race, by others", 3, 1, true},
		{"birth now and then", 2, 5, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rounds := *races
			if testing.Short() || lockstep.RaceDetector {
				rounds = min(rounds, 200)
			}
			winners, births := raceAdders(t, c.goroutines, rounds, c.n, c.births)
			t.Logf("%d races, %d births: keys by number of winners %v", rounds, births, winners)
			lost := 0    // a false positive comes once in 10^5 runs
			if c.n > 1 { // another key in the same layer may set the last missing bit: the one exception
				lost = rounds / 4 // a layer of 5 keys has so few bits that every eighth overlapping add may
			}
			if winners[0] > lost || winners[0]+winners[1] != rounds {
				t.Errorf("keys by number of winners: %v, want exactly one for each of %d", winners, rounds)
			}
		})
	}
}

// raceRate is so low that no key is taken for another.
const raceRate = 1e-9

// raceAdders lets goroutines add the same new keys in lockstep, and counts how many
// of them were told that it is new. A filter serves 8 races.
func raceAdders(t *testing.T, goroutines, rounds int, n uint64, others bool) (winners map[int]int, births int) {
	const perFilter = 8
	winners = map[int]int{}
	fresh := func() *Filter {
		f, err := New(n, raceRate, WithGrowth(1))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := fresh()
	line := lockstep.Line{Runners: uint64(goroutines)}
	var won [perFilter]atomic.Int32
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			step := uint64(0)
			wait := func() { step++; line.Wait(step) }
			var key, other [16]byte
			for base := 0; base < rounds; base += perFilter {
				for i := range min(perFilter, rounds-base) {
					binary.LittleEndian.PutUint64(key[:], uint64(base+i))
					binary.LittleEndian.PutUint64(other[:], uint64(base+i))
					other[8] = byte(g + 1)
					wait()
					lockstep.Dawdle(base+i, g)
					if others && (i+g)%2 == 0 {
						f.Add(other[:])
					}
					if yes, err := f.Add(key[:]); yes && err == nil {
						won[i].Add(1)
					}
				}
				wait()
				if g == 0 {
					for i := range min(perFilter, rounds-base) {
						winners[int(won[i].Swap(0))]++
					}
					births += len(f.Layers()) - 1
					f = fresh()
				}
				wait()
			}
		})
	}
	wg.Wait()
	return winners, births
}

// TestFullInLockstep races the real code for the last room: goroutines add the same new key to
// a filter that may not grow. One of them wins, and none is told that there is no room.
func TestFullInLockstep(t *testing.T) {
	rounds := *races
	if testing.Short() || lockstep.RaceDetector {
		rounds = min(rounds, 200)
	}
	const goroutines, n = 2, 16
	fresh := func() *Filter {
		f := must(n, raceRate, WithMaxLayers(1))
		var b [16]byte
		for i := range uint64(n - 1) {
			if added, err := f.Add(key(&b, 1<<40+i)); !added || err != nil {
				t.Errorf("key %d: %v, %v", i, added, err)
			}
		}
		return f
	}
	f := fresh()
	line := lockstep.Line{Runners: goroutines}
	var won, refused atomic.Int32
	var wg sync.WaitGroup
	wrong := 0
	for g := range goroutines {
		wg.Go(func() {
			step := uint64(0)
			wait := func() { step++; line.Wait(step) }
			var b [16]byte
			for i := range rounds {
				wait()
				lockstep.Dawdle(i, g)
				yes, err := f.Add(key(&b, uint64(i)))
				if yes {
					won.Add(1)
				}
				if err != nil {
					refused.Add(1)
				}
				wait()
				if g == 0 {
					if won.Swap(0) != 1 || refused.Swap(0) != 0 {
						wrong++
					}
					if _, err := f.Add(key(&b, 1<<41+uint64(i))); !errors.Is(err, ErrFull) {
						t.Errorf("race %d: another key: %v, want ErrFull", i, err)
					}
					f = fresh()
				}
				wait()
			}
		})
	}
	wg.Wait()
	if wrong > 0 {
		t.Errorf("in %d of %d races the key did not have one winner, or an add was refused whose key is there", wrong, rounds)
	}
}
