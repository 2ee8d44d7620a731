package layered

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered/tickets"
)

// A Growing is a list of layers that grows: Add appends a layer if the newest is full, or if a generation begins.
// Filters that do not forget have one generation, 0. Begin sets the first list; before, Load returns nil.
type Growing struct {
	Remembers int64 // number of generations before the present one that are not forgotten

	// Next returns the layers followed by a new layer of the generation. It leaves out the layers of generations that
	// are then forgotten.
	Next func(now Layers, generation int64) (Layers, error)

	layers  atomic.Pointer[Layers]
	growing sync.Mutex // held while a layer is added
	refused atomic.Pointer[refusal]
}

// Begin sets the first layers.
func (g *Growing) Begin(first Layers) { g.layers.Store(&first) }

// Load returns the present layers, oldest first, at least one, or nil before Begin.
func (g *Growing) Load() *Layers { return g.layers.Load() }

// Current returns the present generation: the clock's, or the newest layer's if that is later.
func (l Layers) Current(generation int64) int64 { return max(generation, l.Newest().Generation) }

// Oldest returns the oldest generation that is not forgotten. generation is the present one by the clock.
func (g *Growing) Oldest(now *Layers, generation int64) int64 {
	return now.Current(generation) - g.Remembers
}

// How an add finds its one winner while layers come and go
//
// Two goroutines that add the same key may see different newest layers: one in the generation that ends, the other in
// the next. So the winner in a layer checks that no layer was added meanwhile. If one was, the winner looks the key up
// in the new layers, and adds the key to the newest.
//
// At most one winner:
//  1. One layer has at most one winner. So suppose A wins in layer a and B in a later layer b.
//  2. A's bits in a were complete when A checked that no layer was added. So b was added later.
//  3. When B first loaded a list with a layer after a, it looked the key up in a, and found it. (B
//     skips only layers in which it has won itself, and A has won in a.) If a had been dropped,
//     the key was forgotten, and two winners are right.
//
// At least one winner, if no add renews the key: let b be the newest layer to which an add of the key adds it. The
// winner in b adds the key to no further layer, so no layer was added: that add has won.
//
// An add that renews adds a key that it has found to the newest layer, and does not win. Suppose it has found the bits
// of A before A's add has ended. Then A may find the renewed key in the newer layer, and does not win either. A cannot
// tell the renewed key from the key of a winner that looked before A's bits were complete: to tell them apart would
// take a mark per key.
//
// Each winner has one ticket: when it takes one in a newer layer, its ticket of the older layer is lost. If the newest
// layer is full and no other can be added, the winner keeps the old ticket and adds the key without another. Then the
// newest layer has one key more than it is sized for, and the older layer counts the key.
//
// An add uses the time when it began, so it begins at most one generation, however short generations are. An add during
// which layers are added again and again takes the lock, and finishes while no layer can be added.
//
// steps_test.go tries every order.

// patience is the number of times that an add tries before it takes the lock.
const patience = 16

// An adding is the state of an add.
type adding struct {
	h1, h2     uint64
	renew      bool
	generation int64         // by the clock when the add began
	looked     uint64        // layers with a smaller Serial were looked at already
	found      bool          // an add that renews has found the key in an older generation
	ticket     *tickets.Cell // cell of the ticket that counts the key; nil if the add has none
	won        bool
}

// Add adds a key and reports whether it is new and this call has added it. generation is the present one by the clock.
// If renew is true, Add also adds a key that only older generations have. If there is no room, it adds nothing and
// returns an error.
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

// try adds the key. It returns false if it must be called again, because this or another goroutine has added a layer.
// locked means that the caller holds growing.
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

// keep makes ticket the ticket of the add, and records the old one, if any, as lost.
func (a *adding) keep(ticket *tickets.Cell) {
	if a.ticket != nil {
		a.ticket.Lose()
	}
	a.ticket = ticket
}

// grow adds a layer of the present generation, unless another goroutine has added one since now was loaded. It returns
// an error if no layer can be added until a later generation.
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
		// %.0w wraps err without printing its text: %s prints it without the prefix.
		r := &refusal{fmt.Errorf("%w: %s%.0w", failure.ErrFull, failure.Text(err), err), now, generation}
		g.refused.Store(r)
		return r.error
	}
	next.Newest().Serial = now.Newest().Serial + 1 // also if Next has dropped all layers
	g.refused.Store(nil)
	g.layers.Store(&next)
	return nil
}

// A refusal is an error of Next. It holds for one list of layers, up to one generation.
type refusal struct {
	error
	now        *Layers
	generation int64
}
