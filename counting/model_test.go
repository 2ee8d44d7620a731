package counting

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/explore"
)

// The model of Add and Remove as they stand in counting.go, one load or one
// compare-and-swap a step, every interleaving tried. All goroutines work on one key;
// other keys may have counters in common with it, which rise and fall meanwhile.

const modelCounters = 3

// A rule is how an adder decides; the real one is twoPasses.
type rule int

const (
	twoPasses rule = iota
	onePass        // count each up in turn; won if any was 0
)

// What a goroutine does next.
const (
	atWait   int8 = iota // a remover: until an add that it takes back has returned
	atLook               // first pass
	atCount              // second pass
	atFinish             // an adder: the remembered counter
	atEnd
)

type worker struct {
	remover bool
	at, i   int8
	last    int8
	won     bool
}

// world is a state of the model.
type world struct {
	counts     [modelCounters]int8
	rise, fall [modelCounters]int8 // what other keys have still to do
	workers    [4]worker
	begun      int8 // removes
	wins       int8
	early      bool // a second winner before a remove had begun
	below      bool // a remove met a 0
}

func (w *world) step(r rule, t int) bool {
	a := &w.workers[t]
	win := func() {
		a.won = true
		if w.wins++; w.wins > 1+w.begun {
			w.early = true
		}
	}
	switch a.at {
	case atWait:
		adds := int8(0)
		for i := range w.workers {
			if !w.workers[i].remover && w.workers[i].at == atEnd && w.workers[i].i > 0 {
				adds++
			}
		}
		if adds <= w.begun {
			return false
		}
		w.begun++
		a.at = atLook
	case atLook:
		if w.counts[a.i] == 0 {
			a.last = a.i
		}
		if a.i++; a.i == modelCounters {
			a.at, a.i = atCount, 0
			w.below = w.below || a.remover && a.last >= 0
		}
	case atCount:
		switch {
		case a.remover:
			w.below = w.below || w.counts[a.i] == 0
			w.counts[a.i]--
		case r == onePass:
			if w.counts[a.i] == 0 && !a.won {
				win()
			}
			w.counts[a.i]++
		case a.i != a.last:
			w.counts[a.i]++
		}
		if a.i++; a.i == modelCounters {
			a.at = atEnd
			if a.last >= 0 && r == twoPasses && !a.remover {
				a.at = atFinish
			}
		}
	case atFinish:
		if w.counts[a.last] == 0 {
			win()
		}
		w.counts[a.last]++
		a.at = atEnd
	default:
		return false
	}
	if a.at == atEnd {
		*a = worker{remover: a.remover, at: atEnd, i: 1, won: a.won}
	}
	return true
}

// results returns how many winners the final states have, as a set, whether anything went
// wrong in any state, and how many states there were.
func results(r rule, adders, removers int, first world) (winners map[int8]bool, wrong string, states int) {
	for t := range first.workers {
		switch a := &first.workers[t]; {
		case t < adders:
			*a = worker{at: atLook, last: -1}
		case t < adders+removers:
			*a = worker{at: atWait, last: -1, remover: true}
		default:
			*a = worker{at: atEnd}
		}
	}
	winners = map[int8]bool{}
	states = explore.States(first, func(w world, to func(world)) {
		for i := range w.counts {
			if w.rise[i] > 0 {
				next := w
				next.rise[i]--
				next.counts[i]++
				to(next)
			}
			if w.fall[i] > 0 {
				next := w
				next.fall[i]--
				next.counts[i]--
				to(next)
			}
		}
		for t := range w.workers {
			if next := w; next.step(r, t) {
				to(next)
			}
		}
	}, func(w world, final bool) {
		switch {
		case w.early:
			wrong = "a second winner before a remove has begun"
		case w.below:
			wrong = "a remove that was right met a counter of 0"
		}
		if final {
			winners[w.wins] = true
			for i := range w.counts {
				want := first.counts[i] + first.rise[i] - first.fall[i] + int8(adders) - w.begun
				if w.counts[i] != want {
					wrong = "counters that do not add up"
				}
			}
		}
	})
	return winners, wrong, states
}

// TestEveryInterleaving exhausts the model: two and three adders, with none to two
// removers, with every set of counters that other keys have already, will count up or
// will count down.
func TestEveryInterleaving(t *testing.T) {
	total := 0
	for _, c := range []struct{ adders, removers int }{{2, 0}, {3, 0}, {2, 1}, {2, 2}, {3, 1}} {
		for others := range 64 { // for each of three counters: nothing, there, rises, falls
			var first world
			calm, x := true, others
			if c.adders == 3 && c.removers > 0 && others > 0 && !*effort.Long {
				continue
			}
			for i := range first.counts {
				switch x >> (2 * i) & 3 {
				case 1:
					first.counts[i] = 1
				case 2:
					first.rise[i], calm = 1, false
				case 3:
					first.counts[i], first.fall[i], calm = 1, 1, false
				}
			}
			wasThere := first.counts == [modelCounters]int8{1, 1, 1}
			winners, wrong, states := results(twoPasses, c.adders, c.removers, first)
			total += states
			if wrong != "" {
				t.Fatalf("%+v, counters %v, rising %v, falling %v: %s", c, first.counts, first.rise, first.fall, wrong)
			}
			if calm && c.removers == 0 {
				want := int8(1)
				if wasThere {
					want = 0
				}
				if len(winners) != 1 || !winners[want] {
					t.Fatalf("%+v, counters %v: %v winners, want always %d", c, first.counts, winners, want)
				}
			}
		}
	}
	t.Logf("%d states", total)
}

// TestExplorerFindsBrokenRules shows that the explorer can fail, and that the exception
// in Add's docs is one.
func TestExplorerFindsBrokenRules(t *testing.T) {
	if _, wrong, _ := results(onePass, 2, 0, world{}); wrong == "" {
		t.Error("one pass: no second winner found")
	}
	if winners, _, _ := results(twoPasses, 2, 0, world{counts: [3]int8{0, 1, 1}, fall: [3]int8{0, 1, 0}}); !winners[0] {
		t.Errorf("with another key removed: %v winners, want 0 among them", winners)
	}
}
