package rotating

import "github.com/seed3447c163/bloom/internal/digest"

// Add adds a key. It returns true if the key was definitely not added in the last
// window and this call is the one that added it, false if it probably was, in that
// window or up to a generation earlier.
//
// Of any number of goroutines that add the same key at the same time, exactly one gets
// true. The exception is that of [bloom.BloomFilter.Add]: another key's add that sets
// this one's last missing bit in those nanoseconds.
//
// Once Add has returned true, every later Contains of the key is true for the window.
func (f *Filter) Add(key []byte) bool { return f.AddDigest(f.scheme.Digest(key)) }

// AddString is [Filter.Add] for a string, without copying it: a string and its bytes
// are the same key.
func (f *Filter) AddString(key string) bool { return f.AddDigest(f.scheme.Digest(digest.Bytes(key))) }

// AddDigest is [Filter.Add] for a key whose digest is already known, from [Filter.Hash]
// of this filter or one with the same hash and seed or key.
func (f *Filter) AddDigest(h1, h2 uint64) bool { return f.add(h1, h2, false) }

// Renew adds a key as [Filter.Add] does, with the same answer, and if it is there
// already, renews it: it is remembered for the window from now. It takes room
// as a new key does, once in each generation: where all keys are renewed all the time, n
// must be the generations and one times their number.
//
// Once Renew has returned, every later Contains of the key is true for the window.
func (f *Filter) Renew(key []byte) bool {
	h1, h2 := f.scheme.Digest(key)
	return f.add(h1, h2, true)
}

// RenewString is [Filter.Renew] for a string, without copying it.
func (f *Filter) RenewString(key string) bool {
	h1, h2 := f.scheme.Digest(digest.Bytes(key))
	return f.add(h1, h2, true)
}

// How an add finds its one winner while layers come and go
//
// Two goroutines that add the same key may see different newest layers: one that of
// the generation that ends, the other that of the next. So who wins in a layer looks
// whether nothing has changed, and has not won until then: otherwise it looks into the
// layers added meanwhile, and races in the newest one.
//
// At most one winner. Let A win in layer a and B in a later layer b. A saw a still newest
// after its bits were complete, so B, who saw b, saw it later than that. When B first
// saw a layer newer than a, it looked into a, unless it had won there itself, which it
// had not, or a was forgotten, and then two winners are right. Nor was a cleared while B
// looked: nothing had changed when B found itself the winner of the layer that it took
// for the newest, and when it was not, it went on to layers newer than that.
//
// At least one. Let b be the newest layer to which any of them adds the key. The winner
// of b goes no further, so nothing has changed: it has won.
//
// A layer is cleared when its generation is forgotten, while some slow goroutine may
// still be using it. Who writes to a layer therefore enters it first, and looks
// then whether it is still live; who clears it does so only when it is not live any more
// and then nobody is inside. Whichever of the two comes second notices the other. A
// layer with somebody inside is not used again but left to the garbage collector. Who
// only reads need not enter: what was cleared was out of the window before, and the
// answer false is given only if nothing has changed.
//
// The clock is read once, so that an add begins at most one generation, however short they
// are. One that others have overtaken again and again, because layers are so small or so
// short-lived, holds births back until it is done: then nothing changes.
//
// steps_test.go tries it in every order.

// patience is how often an add may be overtaken before it holds others back.
const patience = 16

// An adding is an add that is under way.
type adding struct {
	h1, h2     uint64
	renew      bool
	generation int64  // by the clock, when it began
	looked     uint64 // layers with smaller serial numbers do not have the key, or have it from us
	won        bool
}

func (f *Filter) add(h1, h2 uint64, renew bool) bool {
	a := adding{h1: h1, h2: h2, renew: renew, generation: f.time.generation()}
	for range patience {
		if f.try(&a) {
			return a.won
		}
	}
	return f.insist(&a)
}

// ask returns the generation of the newest layer that has the key, -1 if none has it, and
// whether nothing is to be done any more.
func (f *Filter) ask(a *adding, now *live) (found int64, done bool) {
	g := now.generation(a.generation)
	found = now.youngest(a.h1, a.h2, g-int64(f.plan.generations), a.looked)
	return found, found == g || found >= 0 && !a.renew
}

// try does what there is to do, unless layers come meanwhile, and returns whether it was that.
func (f *Filter) try(a *adding) (done bool) {
	now := f.live.Load()
	found, done := f.ask(a, now)
	if done {
		return true
	}
	newest := now.newest()
	if newest.generation < a.generation {
		f.turn(now, a.generation)
		return false
	}
	visit := newest.tickets.Enter()
	if f.live.Load() != now {
		visit.Leave()
		return false
	}
	took := newest.tickets.Take()
	if !took && f.room(now) {
		visit.Leave()
		f.turn(now, a.generation)
		return false
	}
	won := newest.AddDigest(a.h1, a.h2)
	if !won && took {
		newest.tickets.Give()
	}
	visit.Leave()
	if !won || found >= 0 {
		return true
	}
	if f.live.Load() == now {
		a.won = true
		return true
	}
	a.looked = newest.serial + 1
	return false
}

// insist does the same while no layers can come.
func (f *Filter) insist(a *adding) (won bool) {
	f.turning.Lock()
	defer f.turning.Unlock()
	now := f.live.Load()
	found, done := f.ask(a, now)
	if done {
		return false
	}
	newest, took := now.newest(), false
	if newest.generation >= a.generation {
		took = newest.tickets.Take()
	}
	if newest.generation < a.generation || !took && f.room(now) {
		newest, took = f.addLayer(now, now.generation(a.generation), true), true
	}
	won = newest.AddDigest(a.h1, a.h2)
	if !won && took {
		newest.tickets.Give()
	}
	return won && found < 0
}
