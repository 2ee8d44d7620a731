package rotating

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/explore"
)

// The model of a lookup of a key that is there all the time, because somebody renews it:
// ContainsHash as it stands in contains.go, one load a step, every interleaving tried. The
// key has one bit in a layer. One generation to a window, so that two layers are live, and
// the one before them is cleared.

const lookBirths = 4

// A lookRule is how a lookup goes on when layers have come; the real one is oldestFirst.
type lookRule int

const (
	oldestFirst lookRule = iota
	once                 // what is not found in one pass is not there
	newestFirst          // all are asked again, but the newest first
	notThose             // those that came meanwhile are not asked
)

// What a lookup does next.
const (
	lookLoad   int8 = iota // which layers there are, for the first pass
	lookNewest             // ask, newest first
	lookAgain              // have layers come?
	lookFollow             // which layers there are, for the next pass
	lookOldest             // ask, oldest first
	lookFound
	lookMissed
)

type lookWorld struct {
	has    [lookBirths + 2]bool // by serial number
	newest int8
	clear  int8 // the layers before that one are cleared

	at, seen, i, next int8
}

// others returns what follows if another goroutine does its next step.
func (w lookWorld) others(to func(lookWorld)) {
	if !w.has[w.newest] { // the key is renewed
		next := w
		next.has[w.newest] = true
		to(next)
	}
	if w.newest < lookBirths && w.has[w.newest] { // before its layer can be forgotten
		next := w
		next.newest++
		to(next)
	}
	if w.clear < w.newest-1 {
		next := w
		next.has[w.clear] = false
		next.clear++
		to(next)
	}
}

// look returns what follows if the lookup does its next step.
func (w lookWorld) look(r lookRule, to func(lookWorld)) {
	switch w.at {
	case lookLoad:
		w.seen, w.at, w.i = w.newest, lookNewest, w.newest
	case lookNewest:
		switch {
		case w.has[w.i]:
			w.at = lookFound
		case w.i > max(0, w.seen-1):
			w.i--
		default:
			w.at = lookAgain
		}
	case lookAgain:
		if w.at = lookFollow; w.newest == w.seen || r == once {
			w.at = lookMissed
		}
	case lookFollow:
		if r == notThose && w.next > 0 || w.newest < w.next {
			w.at = lookMissed
			break
		}
		w.seen, w.at, w.i = w.newest, lookOldest, max(0, w.newest-1, w.next)
		if r == newestFirst {
			w.i = w.newest
		}
	case lookOldest:
		switch {
		case w.has[w.i]:
			w.at = lookFound
		case r == newestFirst && w.i > max(0, w.seen-1, w.next):
			w.i--
		case r != newestFirst && w.i < w.seen:
			w.i++
		default:
			w.at, w.next = lookFollow, w.seen+1
		}
	default:
		return
	}
	to(w)
}

// misses reports whether a lookup can miss the key, and how many states there are.
func misses(r lookRule) (missed bool, states int) {
	for _, first := range []lookWorld{{has: [lookBirths + 2]bool{true}}, {has: [lookBirths + 2]bool{true}, newest: 1}, {has: [lookBirths + 2]bool{true, true}, newest: 1}} {
		states += explore.States(first, func(w lookWorld, to func(lookWorld)) {
			w.others(to)
			w.look(r, to)
		}, func(w lookWorld, _ bool) {
			missed = missed || w.at == lookMissed
		})
	}
	return missed, states
}

// TestContainsInEveryInterleaving: a key that is there all the time is found, also where
// layers are born, forgotten and cleared during the lookup.
func TestContainsInEveryInterleaving(t *testing.T) {
	missed, states := misses(oldestFirst)
	t.Logf("%d states", states)
	if missed {
		t.Error("a key is missing")
	}
	for r, name := range map[lookRule]string{once: "one pass", newestFirst: "newest first", notThose: "not those that came meanwhile"} {
		if missed, _ := misses(r); !missed {
			t.Errorf("the broken rule %q is not found", name)
		}
	}
}
