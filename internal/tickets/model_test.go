package tickets

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/explore"
)

// The model of a box with two cells: Take, Give and Left as they stand in tickets.go, one load
// or one locked instruction a step, every interleaving tried. Two goroutines, each with a cell
// of its own, take a ticket and give it back or use it, again and again; a third one counts
// what is left.

const modelTickets = 3

// A rule is how Left counts; the real one is byTheBook.
type rule int

const (
	byTheBook   rule = iota
	noLock           // tickets may go from cell to cell while Left counts
	givenLast        // Left counts the cells first
	givenToCell      // what is given back goes to the cell of who gives it
)

// What a goroutine does next.
const (
	atTake  int8 = iota // from its own cell
	atLock              // fetch
	atGiven             // of those given back
	atFrom              // out of the other cell
	atInto              // into its own
	atHave              // give back or use
	atDone              // Left has counted all
)

type worker struct {
	at, moved int8
	rounds    int8
}

// world is a state of the model.
type world struct {
	left    [2]int8
	given   int8
	used    int8
	locked  bool
	workers [2]worker

	counting      int8 // what Left does next: lock, given, cell 0, cell 1, unlock
	counted, most int8 // what it has counted, and the most that was left since it began
}

// there returns the tickets that are not taken.
func (w *world) there() int8 {
	return w.left[0] + w.left[1] + w.given + w.workers[0].moved + w.workers[1].moved
}

// work returns what follows if goroutine t does its next step.
func (w world) work(t int, to func(world)) {
	a, own, other := &w.workers[t], &w.left[t], &w.left[1-t]
	switch a.at {
	case atTake:
		if a.at = atLock; *own > 0 {
			*own--
			a.at = atHave
		}
	case atLock:
		if w.locked {
			return
		}
		w.locked, a.at = true, atGiven
	case atGiven:
		if a.at = atFrom; w.given > 0 {
			a.moved, w.given, a.at = w.given, 0, atInto
		}
	case atFrom:
		if *other == 0 {
			w.locked, a.at = false, atDone
			break
		}
		a.moved = (*other + 1) / 2
		*other -= a.moved
		a.at = atInto
	case atInto: // one of those that were moved is taken
		*own += a.moved - 1
		a.moved, w.locked, a.at = 0, false, atHave
	default:
		return
	}
	to(w)
}

// end returns what follows if goroutine t uses its ticket or gives it back.
func (w world) end(r rule, t int, to func(world)) {
	a := &w.workers[t]
	if a.at != atHave {
		return
	}
	next := func(w world) {
		a := &w.workers[t]
		if a.at, a.rounds = atTake, a.rounds+1; a.rounds == 2 {
			a.at = atDone
		}
		to(w)
	}
	used := w
	used.used++
	next(used)
	if r == givenToCell {
		w.left[t]++
	} else {
		w.given++
	}
	next(w)
}

// count returns what follows if Left does its next step.
func (w world) count(r rule, to func(world)) {
	steps := []func(){
		func() { w.counted += w.given },
		func() { w.counted += w.left[0] },
		func() { w.counted += w.left[1] },
	}
	if r == givenLast {
		steps = append(steps[1:], steps[0])
	}
	switch at := w.counting; at {
	case 0:
		if r != noLock {
			if w.locked {
				return
			}
			w.locked = true
		}
	case 1, 2, 3:
		steps[at-1]()
	case 4:
		w.locked = w.locked && r == noLock
	default:
		return
	}
	w.counting++
	to(w)
}

// tooMuch reports whether Left counts tickets twice in any interleaving, and how many states
// there are.
func tooMuch(r rule) (found bool, states int) {
	for first := range int8(modelTickets + 1) {
		n := explore.States(world{left: [2]int8{first, modelTickets - first}}, func(w world, to func(world)) {
			then := func(next world) {
				if next.counting > 0 && next.counting < 5 {
					next.most = max(next.most, next.there())
				}
				to(next)
			}
			for t := range w.workers {
				w.work(t, then)
				w.end(r, t, then)
			}
			w.count(r, then)
		}, func(w world, final bool) {
			found = found || w.counting == 5 && w.counted > w.most
			if final && w.counting != 5 {
				panic("the model stops before Left has returned")
			}
		})
		states += n
	}
	return found, states
}

// TestLeftInEveryInterleaving: however tickets move meanwhile, Left never counts more than
// there were.
func TestLeftInEveryInterleaving(t *testing.T) {
	found, states := tooMuch(byTheBook)
	t.Logf("%d states", states)
	if found {
		t.Error("Left counts a ticket twice")
	}
	for r, name := range map[rule]string{noLock: "no lock", givenLast: "what is given back is counted last", givenToCell: "given back to a cell"} {
		if found, _ := tooMuch(r); !found {
			t.Errorf("the broken rule %q is not found", name)
		}
	}
}
