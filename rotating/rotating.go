package rotating

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/tickets"
)

// A Filter is a set of keys, as a [bloom.BloomFilter] is, that remembers each for a
// window of time. Make one with [New]; the zero Filter holds nothing and panics when
// used.
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	plan   plan
	length time.Duration // of a generation
	scheme bloom.Scheme  // of a layer
	hasher *bloom.BloomFilter
	clock  func() time.Time // nil: the system's
	start  time.Time        // elapsed was before at that time
	before time.Duration

	live atomic.Pointer[live]

	turning sync.Mutex // held while a layer is born; guards what follows
	born    uint64
	retired []*layer // out of every new live, and not clean yet
	clean   []*layer
}

// live is what is remembered at some moment, oldest first, at least one. It is never
// changed, only replaced by another.
type live []entry

// An entry is a layer and the generation whose keys it has.
type entry struct {
	*layer
	generation int64
	serial     uint64 // in the order in which they were born
}

// A layer has a ticket for each of the keys that it is sized for. Who writes to it is
// inside of it meanwhile.
type layer struct {
	*bloom.BloomFilter
	tickets *tickets.Box
}

// New returns an empty filter that remembers a key for at least the window, and for at
// most one generation longer: the window divided by generations, 1 to 1000. While at
// most n different keys are added in any one window, its false-positive rate is at most
// p.
//
// The error wraps [bloom.ErrInvalid] if one of them is out of its range or an option is
// not valid, and [bloom.ErrTooLarge] if the machine has too little memory.
func New(window time.Duration, generations int, n uint64, p float64, opts ...Option) (*Filter, error) {
	f, err := newFilter(plan{window, generations, n, p}, newConfig(opts))
	if err != nil {
		return nil, err
	}
	first, err := f.newLayer()
	if err != nil {
		return nil, err
	}
	f.live.Store(&live{{layer: first}})
	return f, nil
}

// newFilter returns a filter without any layer.
func newFilter(p plan, c config) (*Filter, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	f := &Filter{plan: p, length: p.generation(), clock: c.clock}
	var err error
	if f.hasher, err = digest.Hasher("rotating", c.bloom); err != nil {
		return nil, err
	}
	if f.scheme, err = p.scheme(c.bloom); err != nil {
		return nil, err
	}
	f.start = f.time()
	return f, nil
}

func (f *Filter) time() time.Time {
	if f.clock != nil {
		return f.clock()
	}
	return time.Now()
}

// elapsed returns the time since the filter's beginning. The system's monotonic clock
// alone takes a third of the time of both of its clocks. BenchmarkContains.
func (f *Filter) elapsed() time.Duration {
	if f.clock != nil {
		return f.before + f.clock().Sub(f.start)
	}
	return f.before + time.Since(f.start)
}

// generation returns which generation it is by the clock, but not one before those that
// have already begun.
func (f *Filter) generation(l *live) int64 {
	return max(int64(f.elapsed()/f.length), (*l)[len(*l)-1].generation)
}

// Add adds a key. It returns true if the key was definitely not added in the last
// window and this call is the one that added it, false if it probably was, in that
// window or up to a generation earlier.
//
// Of any number of goroutines that add the same key at the same time, exactly one gets
// true. The exception is that of [bloom.BloomFilter.Add]: another key's add that sets
// this one's last missing bit in those nanoseconds.
//
// Once Add has returned true, every later Contains of the key is true for the window.
func (f *Filter) Add(key []byte) bool { return f.AddHash(f.hasher.Hash(key)) }

// AddString is [Filter.Add] for a string, without copying it: a string and its bytes
// are the same key.
func (f *Filter) AddString(key string) bool { return f.AddHash(f.hasher.HashString(key)) }

// AddHash is [Filter.Add] for a key whose digest is already known, from [Filter.Hash]
// of this filter or one with the same hash and seed or key.
func (f *Filter) AddHash(h1, h2 uint64) bool { return f.add(h1, h2, false) }

// Renew adds a key as [Filter.Add] does, with the same answer, and if it is there
// already, makes it young again: it is remembered for the window from now. It takes room
// as a new key does, once in each generation: where all keys are renewed all the time, n
// must be the generations and one times their number.
//
// Once Renew has returned, every later Contains of the key is true for the window.
func (f *Filter) Renew(key []byte) bool { return f.RenewHash(f.hasher.Hash(key)) }

// RenewString is [Filter.Renew] for a string, without copying it.
func (f *Filter) RenewString(key string) bool { return f.RenewHash(f.hasher.HashString(key)) }

// RenewHash is [Filter.Renew] for a key whose digest is already known.
func (f *Filter) RenewHash(h1, h2 uint64) bool { return f.add(h1, h2, true) }

// How an add finds its one winner while layers come and go
//
// Two goroutines that add the same key may see different newest layers: one that of
// the generation that ends, the other that of the next. So who wins in a layer looks
// whether nothing has changed, and has not won until then: otherwise it looks into the
// layers born meanwhile, and races in the newest one.
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
// still be at work on it. Who writes to a layer therefore enters it first, and looks
// then whether it is still live; who clears it does so only when it is not live any more
// and then nobody is inside. Whichever of the two comes second notices the other. A
// layer with somebody inside is not used again but left to the garbage collector. Who
// only reads need not enter: what was cleared was out of the window before, and the
// answer false is given only if nothing has changed.
//
// TestOneWinnerInEveryInterleaving has all of that as a model.

func (f *Filter) add(h1, h2 uint64, renew bool) bool {
	for looked := uint64(0); ; { // layers before that do not have the key, or have it from us
		now := f.live.Load()
		g := f.generation(now)
		found := now.youngest(h1, h2, g-int64(f.plan.generations), looked)
		if found == g || found >= 0 && !renew {
			return false
		}
		newest := (*now)[len(*now)-1]
		if newest.generation < g {
			f.turn(now, g)
			continue
		}
		visit := newest.tickets.Enter()
		if f.live.Load() != now {
			visit.Leave()
			continue
		}
		took := newest.tickets.Take()
		if !took && f.room(now) {
			visit.Leave()
			f.turn(now, g)
			continue
		}
		won := newest.AddHash(h1, h2)
		if !won && took {
			newest.tickets.Give()
		}
		visit.Leave()
		if !won || found >= 0 {
			return false
		}
		if f.live.Load() == now {
			return true
		}
		looked = newest.serial + 1
	}
}

// youngest returns the generation of the newest layer that has the key, of those from
// the oldest generation and the given serial number on, and -1 if none has it.
func (l *live) youngest(h1, h2 uint64, oldest int64, serial uint64) int64 {
	for i := len(*l) - 1; i >= 0; i-- {
		e := &(*l)[i]
		if e.generation < oldest || e.serial < serial {
			break
		}
		if e.ContainsHash(h1, h2) {
			return e.generation
		}
	}
	return -1
}

// Contains returns false if the key was definitely not added in the last window, true if
// it probably was, in that window or up to a generation earlier.
func (f *Filter) Contains(key []byte) bool { return f.ContainsHash(f.hasher.Hash(key)) }

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.ContainsHash(f.hasher.HashString(key)) }

// ContainsHash is [Filter.Contains] for a key whose digest is already known.
func (f *Filter) ContainsHash(h1, h2 uint64) bool {
	for {
		now := f.live.Load()
		if now.youngest(h1, h2, f.generation(now)-int64(f.plan.generations), 0) >= 0 {
			return true
		}
		if f.live.Load() == now {
			return false
		}
	}
}

// Hash returns the 128-bit digest of a key, to hash once and ask many filters.
func (f *Filter) Hash(key []byte) (h1, h2 uint64) { return f.hasher.Hash(key) }

// HashString is [Filter.Hash] for a string, without copying it.
func (f *Filter) HashString(key string) (h1, h2 uint64) { return f.hasher.HashString(key) }

func (f *Filter) newLayer() (*layer, error) {
	b, err := f.scheme.Filter()
	if err != nil {
		return nil, fmt.Errorf("rotating: %w", err)
	}
	return &layer{b, tickets.New(f.plan.layerKeys())}, nil
}
