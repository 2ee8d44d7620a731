package rotating

import (
	"slices"

	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// Add adds a key. It returns true if the key was definitely not added in the last window and this
// call added it, false if it probably was, in that window or up to a generation earlier.
//
// If several goroutines add the same key, at most one gets true. Exactly one does, unless the key
// is a false positive at that moment.
//
// Once Add has returned true, every later Contains of the key is true for the window.
func (f *Filter) Add(key []byte) bool {
	h1, h2 := f.digest(key)
	return f.add(h1, h2, false)
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(key string) bool { return f.Add(memory.BytesOf(key)) }

// Renew adds a key like [Filter.Add], with the same answer. If the key is present, its window
// begins again. A renewed key counts as a new key, once per generation. If all keys are renewed all
// the time, n must be (generations + 1) times their number.
//
// Once Renew has returned, every later Contains of the key is true for the window.
func (f *Filter) Renew(key []byte) bool {
	h1, h2 := f.digest(key)
	return f.add(h1, h2, true)
}

// RenewString is [Filter.Renew] for a string, without copying it.
func (f *Filter) RenewString(key string) bool { return f.Renew(memory.BytesOf(key)) }

// AddMany adds keys like [Filter.Add], one after the other, but faster if the layers are larger
// than the cache. It returns how many were definitely new. If added is not nil, added[i] becomes the
// answer to keys[i].
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int) {
	memory.CheckAnswers("rotating", len(keys), added)
	f.check()
	add := func(h1, h2 uint64) (bool, error) { return f.add(h1, h2, false), nil }
	count, _ = layered.AddMany(f.scheme, keys, added, f.remembered, add)
	return count
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
// At least one: let b be the newest layer to which any of them adds the key. The winner of b
// goes no further, so no layer was added: it has won.
//
// An add reads the clock once, so it begins at most one generation, however short generations
// are. An add that others overtake again and again takes the lock that begins layers, and
// finishes while no layer can come.
//
// steps_test.go tries every order.

// patience is how often an add may be overtaken before it takes the lock.
const patience = 16

// An adding is an add that is under way.
type adding struct {
	h1, h2     uint64
	renew      bool
	generation int64  // by the clock, when it began
	looked     uint64 // older layers do not have the key, or have it from this add
	won        bool
}

func (f *Filter) add(h1, h2 uint64, renew bool) bool {
	a := adding{h1: h1, h2: h2, renew: renew, generation: f.time.generation()}
	for range patience {
		if f.try(&a, false) {
			return a.won
		}
	}
	f.turning.Lock()
	defer f.turning.Unlock() // also if there is no memory
	for !f.try(&a, true) {
	}
	return a.won
}

// try adds the key unless a layer is needed or another goroutine adds one. It reports whether it is
// done. locked means that the caller holds turning.
func (f *Filter) try(a *adding, locked bool) (done bool) {
	now := f.live.Load()
	found := false
	if l := now.Youngest(a.h1, a.h2, a.looked); l != nil && l.Generation >= f.oldest(now, a.generation) {
		if !a.renew || l.Generation == current(now, a.generation) {
			return true
		}
		found = true
	}
	newest := now.Newest()
	begun := newest.Generation >= a.generation
	took := begun && newest.Tickets.Take()
	if !begun || !took && f.room(now) {
		f.turn(now, a.generation, locked)
		return false
	}
	won := newest.Add(a.h1, a.h2, took)
	if !won || found {
		return true
	}
	if f.live.Load() == now {
		a.won = true
		return true
	}
	a.looked = newest.Serial + 1
	return false
}

// room reports whether the generation may get another layer. If not, more than n keys came in a
// window, and the newest layer takes more keys than it is sized for.
func (f *Filter) room(now *layered.Layers) bool { return len(*now) < f.plan.maxLayers() }

// turn adds a layer, and with it begins generation g if that has not begun, unless another
// goroutine has done so since now was loaded. It drops the layers that have ended by then. If there is
// no memory, it panics and has changed nothing.
func (f *Filter) turn(now *layered.Layers, g int64, locked bool) {
	if !locked {
		f.turning.Lock()
		defer f.turning.Unlock() // also if there is no memory
	}
	l := f.live.Load()
	if l != now && l.Newest().Generation >= g {
		return
	}
	b, err := f.scheme.Filter()
	if err != nil {
		panic(err) // rare: the first layer had as much
	}
	g = current(l, g)
	next := l.And(b, g, b.Params().N)
	for next[0].Generation < g-int64(f.plan.generations) {
		next = next[1:]
	}
	next = slices.Clone(next) // without the memory of the others
	f.live.Store(&next)
}
