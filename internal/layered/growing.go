package layered

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered/tickets"
)

// A Growing is a list of layers that gets another one when the newest has no room, or when a generation begins.
// Filters that do not forget have one generation, 0. Begin makes the first list; until then Load returns nil.
type Growing struct {
	Remembers int64 // how many generations before the present one are remembered

	// Next returns the layers with one more of a generation, and without the ended ones, or an error.
	Next func(now Layers, generation int64) (Layers, error)

	layers  atomic.Pointer[Layers]
	growing sync.Mutex // held while a layer is added
	refused atomic.Pointer[refusal]
}

// Begin sets the first layers.
func (g *Growing) Begin(first Layers) { g.layers.Store(&first) }

// Load returns the present layers, oldest first, at least one.
func (g *Growing) Load() *Layers { return g.layers.Load() }

// Current returns the generation if the clock says generation: the newest that has begun, or a later one.
func (l Layers) Current(generation int64) int64 { return max(generation, l.Newest().Generation) }

// Oldest returns the oldest generation that is remembered if the clock says generation.
func (g *Growing) Oldest(now *Layers, generation int64) int64 {
	return now.Current(generation) - g.Remembers
}

// How an add finds its one winner while layers come and go
//
// Two goroutines that add the same key may see different newest layers: one in the generation
// that ends, the other in the next. The winner of a layer therefore checks that no layer was
// added. Otherwise it looks the key up in the layers added since, and adds it to the newest.
//
// At most one winner:
//  1. Suppose A wins in layer a and B in a later layer b. One layer has one winner.
//  2. A saw a as the newest layer after its bits were complete. B saw b later than that.
//  3. When B first saw a layer newer than a, it looked into a and found the key. It skips only
//     layers that it has won itself, and A has won a. Or a was dropped, and then two winners
//     are right.
//
// At least one, if none of them renews the key: let b be the newest layer to which any of them adds
// the key. The winner of b goes no further, so no layer was added: it has won.
//
// An add that renews a key which it has found is no winner, but adds the key to the newest layer. If it
// has found the bits of A, whose add has not ended, A finds its bits and is no winner either. A cannot tell
// them from the bits of a winner that looked before A's bits were complete: that would take a mark per key.
//
// Each winner has one ticket: a ticket of a layer that it has won before is lost. Only if the newest layer
// has no room, and there can be no other, does the winner keep that ticket and add the key without one. Then
// the newest layer has a key more than it is for, and the key counts in the older layer.
//
// An add knows one time, when it began, so it begins at most one generation, however short
// generations are. An add that others overtake again and again takes the lock that begins layers,
// and finishes while no layer can come.
//
// steps_test.go tries every order.

// patience is how often an add may be overtaken before it takes the lock.
const patience = 16

// An adding is an add that is under way.
type adding struct {
	h1, h2     uint64
	renew      bool
	generation int64         // the present one when the add began
	looked     uint64        // layers with a smaller Serial need no further look
	found      bool          // an add that renews has found the key in an older generation
	ticket     *tickets.Cell // has given this add a ticket for a layer that it has won
	won        bool
}

// Add adds a key and reports whether it is new and this call has added it. renew also adds a key that is in older
// generations than the present one. generation is the present one by the clock. If there is no room, the call adds
// nothing and returns an error.
func (g *Growing) Add(h1, h2 uint64, generation int64, renew bool) (bool, error) {
	a := adding{h1: h1, h2: h2, renew: renew, generation: generation}
	for range patience {
		if done, err := g.try(&a, false); done {
			return a.won, err
		}
	}
	g.growing.Lock()
	defer g.growing.Unlock() // also if a custom strategy panics
	for {
		if done, err := g.try(&a, true); done {
			return a.won, err
		}
	}
}

// try adds the key unless a layer is needed or another goroutine adds one. It reports whether it is
// done. locked means that the caller holds growing.
func (g *Growing) try(a *adding, locked bool) (done bool, err error) {
	now := g.layers.Load()
	if l := now.Youngest(a.h1, a.h2, a.looked); l != nil && l.Generation >= g.Oldest(now, a.generation) {
		if !a.renew || l.Generation == now.Current(a.generation) {
			a.keep(nil)
			return true, nil
		}
		a.found = true
	}
	newest := now.Newest()
	took := (*tickets.Cell)(nil)
	if newest.Generation >= a.generation {
		took = newest.Tickets.Take(a.h1)
	}
	if took == nil {
		if err := g.grow(now, a.generation, locked); err == nil || a.ticket == nil {
			return err != nil, err
		}
	}
	if !newest.Add(a.h1, a.h2, took) {
		a.keep(nil)
		return true, nil
	}
	if took != nil {
		a.keep(took)
	}
	if g.layers.Load() == now {
		a.won = !a.found
		return true, nil
	}
	a.looked = newest.Serial + 1
	return false, nil
}

// keep replaces the ticket that counts the key.
func (a *adding) keep(ticket *tickets.Cell) {
	if a.ticket != nil {
		a.ticket.Lose()
	}
	a.ticket = ticket
}

// grow adds a layer, and with it begins a generation if that has not begun, unless another goroutine has
// added one since now was loaded. It returns an error if there can be none before a later generation.
func (g *Growing) grow(now *Layers, generation int64, locked bool) error {
	if r := g.refused.Load(); r != nil && r.now == now && r.generation >= generation {
		return r.error
	}
	if !locked {
		g.growing.Lock()
		defer g.growing.Unlock() // also if a custom strategy panics
	}
	if g.layers.Load() != now {
		return nil
	}
	generation = now.Current(generation)
	next, err := g.Next(*now, generation)
	if err != nil {
		// %.0w keeps the chain of err and hides its text, which %s has without the prefix.
		r := &refusal{fmt.Errorf("%w: %s%.0w", failure.ErrFull, failure.Text(err), err), now, generation}
		g.refused.Store(r)
		return r.error
	}
	next.Newest().Serial = now.Newest().Serial + 1 // also if Next has dropped all layers
	g.refused.Store(nil)
	g.layers.Store(&next)
	return nil
}

// A refusal is why layers get no other one before a later generation.
type refusal struct {
	error
	now        *Layers
	generation int64
}
