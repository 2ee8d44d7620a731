package rotating

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/explore"
)

// The model of an add while layers come and go: add as it stands in add.go, one load or one
// locked instruction a step, every interleaving tried. A key has two bits in a layer, so that
// it can be half there. One generation to a window, each with one layer, so that two are live
// and the one before them is cleared and used again.

const (
	modelBits   = 2
	modelBirths = 3 // with the third, the first layer comes back
	modelLayers = 6 // the two at first, one more, and those made because one was not idle

	modelPatience = 2 // how often an adder may be overtaken before it holds births back
)

// A rule is how an adder and who clears decide; the real one is byTheBook.
type rule int

const (
	byTheBook rule = iota
	believe        // who has won in a layer has won
	noDoor         // layers are cleared with someone inside
	noSecond       // who enters does not look whether the layer is still live
	noHold         // who insists does not hold births back
)

// What an adder does next.
const (
	atLoad  int8 = iota // load which layer is the newest
	atAsk               // ask a layer: bit after bit, newest layer first
	atEnter             // enter the newest
	atValid             // load again whether it is
	atLook              // first pass of the add to it
	atSet               // second pass, all but the remembered bit
	atFlip              // the remembered bit
	atLeave             // leave the layer
	atCheck             // load again which layer is the newest
	atHold              // hold births back
	atEnd
)

// An adder is one goroutine of the model. Layers are named by their serial number, which
// is that of their generation too.
type adder struct {
	at, serial, bit int8
	newest, looked  int8
	last            int8
	flipped         bool
	tries           int8
	insists         bool
	won             int8 // the generation that it has won, -1 for none
}

// world is a state of the model.
type world struct {
	bits   [modelLayers]uint8
	inside [modelLayers]int8
	layer  [modelBirths + 1]int8 // by serial number
	newest int8
	births int8 // that there will be
	made   int8
	held   bool // births are held back
	adders [3]adder

	// What the goroutine that began the newest layer has still to do.
	retired, clean, cleared int8 // layers, -1 for none; bits of retired that are cleared
}

func (w *world) step(r rule, t int) bool {
	a := &w.adders[t]
	newest := w.layer[a.newest]
	switch a.at {
	case atLoad:
		a.newest = w.newest
		a.at, a.serial, a.bit = atAsk, a.newest, 0
	case atAsk:
		has := w.bits[w.layer[a.serial]]>>a.bit&1 == 1
		switch {
		case has && a.bit == modelBits-1:
			a.at = atEnd // found
		case has:
			a.bit++
		case a.serial > max(a.looked, a.newest-1, 0):
			a.serial, a.bit = a.serial-1, 0
		case a.insists: // what is newest cannot be forgotten meanwhile
			a.at, a.bit, a.last = atLook, 0, -1
		default:
			a.at = atEnter
		}
	case atHold:
		if w.held {
			return false
		}
		w.held = r != noHold
		a.at, a.insists = atLoad, true
	case atEnter:
		w.inside[newest]++
		a.at = atValid
		if r == noSecond {
			a.at, a.bit, a.last = atLook, 0, -1
		}
	case atValid:
		if a.at, a.bit, a.last = atLook, 0, -1; w.newest != a.newest {
			w.inside[newest]--
			a.overtaken()
		}
	case atLook:
		if w.bits[newest]>>a.bit&1 == 0 {
			a.last = a.bit
		}
		a.bit++
		if a.bit == modelBits {
			a.at, a.bit = atSet, 0
			if a.last < 0 {
				a.at, a.flipped = atLeave, false
			}
		}
	case atSet:
		if a.bit != a.last {
			w.bits[newest] |= 1 << a.bit
		}
		a.bit++
		if a.bit == modelBits {
			a.at = atFlip
		}
	case atFlip:
		a.flipped = w.bits[newest]>>a.last&1 == 0
		w.bits[newest] |= 1 << a.last
		a.at = atLeave
	case atLeave:
		if !a.insists {
			w.inside[newest]--
		}
		switch {
		case a.flipped && (r == believe || a.insists):
			a.at, a.won = atEnd, a.newest
		case a.flipped:
			a.at = atCheck
		default:
			a.at = atEnd
		}
	case atCheck:
		if w.newest == a.newest {
			a.at, a.won = atEnd, a.newest
		} else {
			a.looked = a.newest + 1
			a.overtaken()
		}
	default:
		return false
	}
	// What is of no use any more must not make equal states differ.
	switch a.at {
	case atEnd:
		if a.insists {
			w.held = false
		}
		*a = adder{at: atEnd, won: a.won}
	case atLoad, atHold:
		*a = adder{at: a.at, looked: a.looked, tries: a.tries, insists: a.insists, won: -1}
	}
	return true
}

// overtaken begins again, or insists.
func (a *adder) overtaken() {
	a.at = atLoad
	if a.tries++; a.tries == modelPatience {
		a.at, a.tries = atHold, 0
	}
}

// turn advances whoever begins layers and makes old ones clean, if it has something to
// do.
func (w *world) turn(r rule) bool {
	switch {
	case w.retired >= 0 && w.cleared == 0 && r != noDoor && w.inside[w.retired] > 0:
		w.retired = -1 // left to those inside
	case w.retired >= 0:
		w.bits[w.retired] &^= 1 << w.cleared
		if w.cleared++; w.cleared == modelBits {
			w.clean, w.retired, w.cleared = w.retired, -1, 0
		}
	case w.newest < w.births && !w.held:
		if w.clean < 0 {
			w.clean = w.made
			w.made++
		}
		w.newest++
		w.layer[w.newest], w.clean = w.clean, -1
		if w.newest >= 2 {
			w.retired = w.layer[w.newest-2]
		}
	default:
		return false
	}
	return true
}

// verdict says what is wrong with a state, if anything.
func (w *world) verdict(goroutines int, ended, wasThere bool) string {
	won := 0
	for i := range goroutines {
		a := &w.adders[i]
		if a.won < 0 {
			continue
		}
		won++
		if w.newest-a.won <= 1 && w.bits[w.layer[a.won]] != 1<<modelBits-1 {
			return "a key is lost within the window"
		}
		for j := range i {
			if b := &w.adders[j]; b.won >= 0 && max(a.won-b.won, b.won-a.won) <= 1 {
				return "two winners within a window"
			}
		}
	}
	if ended && won == 0 && !wasThere {
		return "no winner"
	}
	return ""
}

// verdictsOn returns the verdicts on all states that can be reached, and how many there were.
func verdictsOn(r rule, goroutines int, births int8, start uint8) (verdicts map[string]bool, states int) {
	first := world{births: births, made: 1, retired: -1, clean: -1}
	first.bits[0] = start
	for t := range first.adders {
		first.adders[t].won = -1
		if t >= goroutines {
			first.adders[t].at = atEnd
		}
	}
	verdicts = map[string]bool{}
	states = explore.States(first, func(w world, to func(world)) {
		for t := range goroutines {
			if next := w; next.step(r, t) {
				to(next)
			}
		}
		if next := w; next.turn(r) {
			to(next)
		}
	}, func(w world, final bool) {
		ended := true
		for _, a := range w.adders {
			ended = ended && a.at == atEnd
		}
		if v := w.verdict(goroutines, ended, start == 1<<modelBits-1); v != "" {
			verdicts[v] = true
		}
		if final && !ended {
			verdicts["somebody waits for ever"] = true
		}
	})
	return verdicts, states
}

// TestOneWinnerInEveryInterleaving exhausts the model, from every state of the key's
// bits in the first layer.
func TestOneWinnerInEveryInterleaving(t *testing.T) {
	total := 0
	for _, c := range []struct {
		goroutines int
		births     int8
		large      bool
	}{{2, int8(effort.Times(2, 3, 3)), false}, {3, 1, false}, {3, 2, true}} {
		if c.large && !*effort.Long {
			continue
		}
		for start := uint8(0); start < 1<<modelBits; start++ {
			verdicts, states := verdictsOn(byTheBook, c.goroutines, c.births, start)
			total += states
			for v := range verdicts {
				t.Errorf("%d adders, %d births, bits %b: %s", c.goroutines, c.births, start, v)
			}
		}
	}
	t.Logf("%d states", total)
}

// TestExplorerFindsBrokenRules shows that the explorer can fail.
func TestExplorerFindsBrokenRules(t *testing.T) {
	for r, want := range map[rule]string{
		believe:  "two winners within a window",
		noDoor:   "no winner",
		noSecond: "no winner",
		noHold:   "two winners within a window",
	} {
		if verdicts, _ := verdictsOn(r, 2, modelBirths, 0); !verdicts[want] {
			t.Errorf("rule %d: %v, want %q among them", r, verdicts, want)
		}
	}
}
