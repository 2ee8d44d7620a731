package scalable

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/explore"
)

// The model of an add where there is no room for a further layer: AddHash as it stands in
// add.go, one load or one locked instruction a step, every interleaving tried. Two or three
// goroutines add keys to a layer with one ticket: the same key, or one of them another one.
// A key has two bits, of its own.

// A fullRule is how an add finds that there is no room; the real one is whenUsedUp.
type fullRule int

const (
	whenUsedUp fullRule = iota
	atOnce              // no ticket, no room
	lookOnce            // no ticket, and the key is still not there
	usedFirst           // a ticket is used before the bits are complete
)

// What an adder does next.
const (
	fullFlag  int8 = iota // load whether all is known to be used up
	fullAsk               // is the key there? bit after bit
	fullTake              // take a ticket
	fullUsed              // is every ticket used?
	fullLook              // first pass of the add
	fullSet               // second pass, all but the remembered bit
	fullFlip              // the remembered bit
	fullGive              // give the ticket back
	fullUse               // or use it
	fullRetry             // ask once more, and then give up: lookOnce
	fullEnd
)

type fullAdder struct {
	at, bit, last int8
	key           int8
	noRoom        bool
	won, refused  bool
}

type fullWorld struct {
	bits         [2]uint8 // of each key
	left, used   int8
	known        bool // that all is used up
	adders       [3]fullAdder
	refusedThere bool // an add was refused whose key was there
}

func (w *fullWorld) step(r fullRule, t int) bool {
	a := &w.adders[t]
	bits := &w.bits[a.key]
	refuse := func() {
		a.at, a.refused = fullEnd, true
		w.refusedThere = w.refusedThere || *bits == 1<<modelBits-1
	}
	switch a.at {
	case fullFlag:
		a.noRoom, a.at, a.bit = w.known, fullAsk, 0
	case fullAsk, fullRetry:
		switch {
		case *bits>>a.bit&1 == 1 && a.bit == modelBits-1:
			a.at = fullEnd
		case *bits>>a.bit&1 == 1:
			a.bit++
		case a.noRoom || a.at == fullRetry:
			refuse()
		default:
			a.at = fullTake
		}
	case fullTake:
		switch {
		case w.left > 0:
			w.left--
			a.at, a.bit, a.last = fullLook, 0, -1
			if r == usedFirst {
				w.used++
			}
		case r == atOnce:
			refuse()
		case r == lookOnce:
			a.at, a.bit = fullRetry, 0
		default:
			a.at = fullUsed
		}
	case fullUsed:
		w.known = w.known || w.used == 1
		a.at = fullFlag
	case fullLook:
		if *bits>>a.bit&1 == 0 {
			a.last = a.bit
		}
		if a.bit++; a.bit == modelBits {
			if a.at, a.bit = fullSet, 0; a.last < 0 {
				a.at = fullGive
			}
		}
	case fullSet:
		if a.bit != a.last {
			*bits |= 1 << a.bit
		}
		if a.bit++; a.bit == modelBits {
			a.at = fullFlip
		}
	case fullFlip:
		if a.at = fullGive; *bits>>a.last&1 == 0 {
			*bits |= 1 << a.last
			a.won, a.at = true, fullUse
		}
	case fullGive:
		w.left++
		if r == usedFirst {
			w.used--
		}
		a.at = fullEnd
	case fullUse:
		if r != usedFirst {
			w.used++
		}
		a.at = fullEnd
	default:
		return false
	}
	if a.at == fullEnd {
		*a = fullAdder{at: fullEnd, key: a.key, won: a.won, refused: a.refused}
	}
	return true
}

// refusals explores the model and says what is wrong with it, if anything.
func refusals(r fullRule, adders int, keys [3]int8) (wrong string, states int) {
	first := fullWorld{left: 1}
	for t := range first.adders {
		first.adders[t].key = keys[t]
		if t >= adders {
			first.adders[t].at = fullEnd
		}
	}
	states = explore.States(first, func(w fullWorld, to func(fullWorld)) {
		for t := range w.adders {
			if next := w; next.step(r, t) {
				to(next)
			}
		}
	}, func(w fullWorld, _ bool) {
		won, ended := 0, true
		for _, a := range w.adders {
			ended = ended && a.at == fullEnd
			if a.won {
				won++
			}
		}
		switch {
		case w.refusedThere:
			wrong = "an add is refused whose key is there"
		case won > 1:
			wrong = "more keys than tickets"
		case ended && won == 0:
			wrong = "nobody has won, and there is room"
		}
		for _, a := range w.adders[:adders] { // whose key gets in by another one is not refused
			if ended && a.refused && w.bits[a.key] == 1<<modelBits-1 {
				wrong = "an add is refused whose key another one adds"
			}
		}
	})
	return wrong, states
}

// TestFullInEveryInterleaving exhausts the model.
func TestFullInEveryInterleaving(t *testing.T) {
	total := 0
	for _, c := range []struct {
		adders int
		keys   [3]int8
	}{{2, [3]int8{0, 0}}, {2, [3]int8{0, 1}}, {3, [3]int8{0, 0, 0}}, {3, [3]int8{0, 0, 1}}} {
		wrong, states := refusals(whenUsedUp, c.adders, c.keys)
		total += states
		if wrong != "" {
			t.Errorf("keys %v: %s", c.keys[:c.adders], wrong)
		}
		for r, name := range map[fullRule]string{atOnce: "at once", lookOnce: "look once more", usedFirst: "used before it is there"} {
			if wrong, _ := refusals(r, c.adders, c.keys); wrong == "" && c.keys[0] == c.keys[1] {
				t.Errorf("keys %v: the broken rule %q is not found", c.keys[:c.adders], name)
			}
		}
	}
	t.Logf("%d states", total)
}
