package scalable

import (
	"testing"

	"github.com/seed3447c163/bloom/internal/explore"
)

// The model of an add while layers are born: AddHash as it stands in add.go,
// one load or one locked instruction a step, every interleaving tried. A key has two
// bits in each of three layers, so that it can be half there.

const (
	modelLayers = 3
	modelBits   = 2
)

// A rule is how an adder decides; the real one is lookAgain.
type rule int

const (
	lookAgain rule = iota // who has won in a layer that is no longer the newest goes on
	believe               // who has won in a layer has won
	skipOld               // lookAgain, but it does not look into the layers born meanwhile
)

// What an adder does next.
const (
	atLoad  int8 = iota // load which layer is the newest
	atAsk               // ask a layer: bit after bit, newest layer first
	atLook              // first pass of the add to the newest
	atSet               // second pass, all but the remembered bit
	atFlip              // the remembered bit
	atCheck             // load again which layer is the newest
	atEnd
)

// An adder is one goroutine of the model.
type adder struct {
	at, layer, bit int8 // where it is
	newest, looked int8 // the layer it saw as newest; those before looked are known
	last           int8 // the bit that it remembers
	won            bool
}

// world is a state of the model.
type world struct {
	bits   [modelLayers]uint8
	newest int8
	adders [3]adder
}

func (w *world) step(r rule, t int) bool {
	a := &w.adders[t]
	has := func(layer, bit int8) bool { return w.bits[layer]>>bit&1 == 1 }
	switch a.at {
	case atLoad:
		a.newest = w.newest
		a.at, a.layer, a.bit = atAsk, a.newest, 0
		if r == skipOld && a.looked > 0 {
			a.looked = a.newest
		}
	case atAsk:
		switch {
		case has(a.layer, a.bit) && a.bit == modelBits-1:
			a.at = atEnd // found
		case has(a.layer, a.bit):
			a.bit++
		case a.layer > a.looked:
			a.layer, a.bit = a.layer-1, 0
		default:
			a.at, a.bit, a.last = atLook, 0, -1
		}
	case atLook:
		if !has(a.newest, a.bit) {
			a.last = a.bit
		}
		a.bit++
		if a.bit == modelBits {
			a.at, a.bit = atSet, 0
			if a.last < 0 {
				a.at = atEnd
			}
		}
	case atSet:
		if a.bit != a.last {
			w.bits[a.newest] |= 1 << a.bit
		}
		a.bit++
		if a.bit == modelBits {
			a.at = atFlip
		}
	case atFlip:
		a.at = atEnd
		if !has(a.newest, a.last) {
			w.bits[a.newest] |= 1 << a.last
			a.at = atCheck
		}
		if r == believe {
			a.won, a.at = a.at == atCheck, atEnd
		}
	case atCheck:
		a.won = w.newest == a.newest
		a.at = atEnd
		if !a.won {
			a.at, a.looked = atLoad, a.newest+1
		}
	default:
		return false
	}
	// What is of no use any more must not make equal states differ.
	switch a.at {
	case atEnd:
		*a = adder{at: atEnd, won: a.won}
	case atLoad:
		*a = adder{at: atLoad, looked: a.looked}
	}
	return true
}

// winnersOf returns how many winners the final states have, as a set, and how many states
// there are.
func winnersOf(r rule, goroutines int, start uint8, layers int8) (winners map[int]bool, states int) {
	first := world{bits: [modelLayers]uint8{start}}
	for t := range first.adders {
		if t >= goroutines {
			first.adders[t].at = atEnd
		}
	}
	winners = map[int]bool{}
	states = explore.States(first, func(w world, to func(world)) {
		if w.newest < layers-1 { // a layer is born
			next := w
			next.newest++
			to(next)
		}
		for t := range goroutines {
			if next := w; next.step(r, t) {
				to(next)
			}
		}
	}, func(w world, _ bool) {
		won, ended := 0, true
		for _, a := range w.adders {
			ended = ended && a.at == atEnd
			if a.won {
				won++
			}
		}
		if ended {
			winners[won] = true
		}
	})
	return winners, states
}

// TestOneWinnerInEveryInterleaving exhausts the model: two adders and three layers,
// three adders and two layers, from every state of the key's bits in the first one.
func TestOneWinnerInEveryInterleaving(t *testing.T) {
	total := 0
	for _, c := range []struct {
		goroutines int
		layers     int8
	}{{2, 3}, {3, 2}} {
		for start := uint8(0); start < 1<<modelBits; start++ {
			winners, states := winnersOf(lookAgain, c.goroutines, start, c.layers)
			total += states
			want := 1
			if start == 1<<modelBits-1 {
				want = 0
			}
			if len(winners) != 1 || !winners[want] {
				t.Errorf("%d adders, %d layers, bits %b: %v winners, want always %d", c.goroutines, c.layers, start, winners, want)
			}
		}
	}
	t.Logf("%d states", total)
}

// TestExplorerFindsBrokenRules shows that the explorer can fail.
func TestExplorerFindsBrokenRules(t *testing.T) {
	if winners, _ := winnersOf(believe, 2, 0, 2); !winners[2] {
		t.Errorf("without looking again: %v winners, want 2 among them", winners)
	}
	if winners, _ := winnersOf(skipOld, 3, 0, 3); !winners[2] {
		t.Errorf("without looking into the layers born meanwhile: %v winners, want 2 among them", winners)
	}
}
