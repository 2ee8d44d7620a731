package bloom

import (
	"testing"
)

// A scheduler runs the real add, one probe at a time, in every order. A strategy of
// one's own is asked for each position, in both passes: there the goroutine waits
// until it is its turn. (What follows the last probe, the flip, is part of its step.)
type scheduler struct {
	strategy Strategy
	turns    []chan bool
	events   chan bool // true: a probe is asked for, false: an add has returned
}

func newScheduler(adders int, positions func(id uint64) []uint64) *scheduler {
	s := &scheduler{events: make(chan bool)}
	for range adders {
		s.turns = append(s.turns, make(chan bool))
	}
	s.strategy = NewStrategy("scheduled", Definition{Index: func(id, _ uint64, i int, _ uint64) uint64 {
		s.events <- true
		<-s.turns[id]
		return positions(id)[i]
	}})
	return s
}

// run adds with all adders, whose turn it is as choices says and afterwards that of
// the first that is not done. It returns who won, and how many could have been
// chosen each time.
func (s *scheduler) run(f *BloomFilter, choices []int) (won []bool, taken, options []int) {
	won = make([]bool, len(s.turns))
	running := []int{}
	for id := range s.turns {
		go func() {
			won[id] = f.AddHash(uint64(id), 0)
			s.events <- false
		}()
		<-s.events // its first probe
		running = append(running, id)
	}
	for len(running) > 0 {
		choice := 0
		if len(taken) < len(choices) {
			choice = choices[len(taken)]
		}
		taken, options = append(taken, choice), append(options, len(running))
		s.turns[running[choice]] <- true
		if more := <-s.events; !more {
			running = append(running[:choice:choice], running[choice+1:]...)
		}
	}
	return won, taken, options
}

// every runs all schedules, depth first, and calls visit with each one's winners.
func (s *scheduler) every(f *BloomFilter, visit func(won []bool, schedule []int)) (schedules int) {
	for choices := []int{}; ; {
		f.Clear()
		won, taken, options := s.run(f, choices)
		visit(won, taken)
		schedules++
		last := len(taken) - 1
		for last >= 0 && taken[last]+1 == options[last] {
			last--
		}
		if last < 0 {
			return schedules
		}
		choices = append(taken[:last:last], taken[last]+1)
	}
}

// TestOneWinnerInEverySchedule exhausts the orders in which the real code of two
// adders of up to 3 probes, however they coincide, and of three of one probe can run.
// With -races also 4 probes, and 2.
func TestOneWinnerInEverySchedule(t *testing.T) {
	t.Parallel()
	most := map[int]int{2: 3, 3: 1}
	if *races > 0 {
		most = map[int]int{2: 4, 3: 2}
	}
	schedules := 0
	for adders := 2; adders <= 3; adders++ {
		for k := 1; k <= most[adders]; k++ {
			for _, pattern := range patterns(k) {
				s := newScheduler(adders, func(uint64) []uint64 { return asPositions(pattern) })
				f, err := NewWithParams(Params{M: 64, K: k}, WithStrategy(s.strategy))
				if err != nil {
					t.Fatal(err)
				}
				schedules += s.every(f, func(won []bool, schedule []int) {
					if n := count(won); n != 1 {
						t.Fatalf("%d adders, probes %v, schedule %v: %d winners", adders, pattern, schedule, n)
					}
				})
			}
		}
	}
	t.Logf("%d schedules, each with one winner", schedules)
}

// TestNobodyWinsOnlyWithAnotherKey does the same for two adders of a key while
// another key with one bit in common is added, and counts the exception.
func TestNobodyWinsOnlyWithAnotherKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shared, bits uint64
		exception    bool
	}{
		{0, 3, false}, // set in the second pass before the last one: another's help changes nothing
		{1, 3, true},  // the last one
		{9, 4, false}, // none
	} {
		keys := [][]uint64{{0, 1}, {0, 1}, {7, c.shared}}
		s := newScheduler(3, func(id uint64) []uint64 { return keys[id] })
		f, err := NewWithParams(Params{M: 64, K: 2}, WithStrategy(s.strategy))
		if err != nil {
			t.Fatal(err)
		}
		nobody := 0
		schedules := s.every(f, func(won []bool, schedule []int) {
			switch n := count(won[:2]); {
			case n > 1:
				t.Fatalf("schedule %v: %d winners", schedule, n)
			case n == 0:
				nobody++
			}
			if f.bits.count() != c.bits {
				t.Fatalf("schedule %v: bits %v", schedule, setBits(f))
			}
		})
		t.Logf("the other key sets bit %d too: nobody wins in %d of %d schedules", c.shared, nobody, schedules)
		if nobody > 0 != c.exception {
			t.Errorf("the other key sets bit %d too: nobody wins in %d of %d schedules", c.shared, nobody, schedules)
		}
	}
}

func asPositions(pattern []int8) (out []uint64) {
	for _, bit := range pattern {
		out = append(out, uint64(bit))
	}
	return out
}

func count(won []bool) (n int) {
	for _, w := range won {
		if w {
			n++
		}
	}
	return n
}
