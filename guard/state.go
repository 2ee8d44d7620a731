package guard

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

// # Why a "no" is never false
//
// A state never changes; a build replaces it, twice:
//
//	{current: A}  →  {current: A, next: B}  →  {current: B}
//
// (A is nil before the first build.) A Put loads the state, enters it, adds its keys to
// both filters, then makes them visible in the store, then leaves. A build publishes its
// new state, waits until nobody is left in any earlier one, then lists the store's keys
// into B, then publishes B.
//
//  1. When B becomes current it has every key of the store. A key that is in the store
//     then was made visible by a Put that entered an earlier state than B's first, and so
//     had left before the list began: it is in the list. Or it entered that state or a
//     later one, and added the key to B first.
//  2. From then on it has, at any time, every key that is visible: each Put enters a
//     state that has B, or one that the build has waited for, until a later build
//     publishes C without B.
//  3. A lookup loads the state once. If A says "no", then at the moment of the load, when
//     A was current, the key was not visible: A would have had it, and filters never
//     forget. It does not matter how much later A is asked.
//
// That the build waits for all earlier states, not for the last one only, is needed: a
// Put that is slow in {A, B} is not in C when {B} is replaced by {B, C}.
// model_rules_test.go tries every interleaving of this, and of the versions that lack a part;
// steps_test.go tries the code itself, one atomic operation after the other.
type state struct {
	filter        *bloom.BloomFilter // of current: what lookups need
	current, next *layer
	puts          *puts
}

// puts are those in a state. They have cache lines of their own, as lookups read the
// state, and do not keep its filters from the garbage collector.
type puts struct {
	_      [64]byte
	inside atomic.Int64 // how many, and replaced
	idle   chan struct{}
	once   sync.Once
	_      [64]byte
}

// replaced is set in puts.inside when no Put that enters will stay: the last one out closes
// idle. It is in one word with the count, because a Put that was the last one out, and looks
// only later whether the state has been replaced, may have been followed by others.
const replaced = 1 << 62

func newState(current, next *layer) *state {
	s := &state{current: current, next: next, puts: &puts{idle: make(chan struct{})}}
	if current != nil {
		s.filter = current.BloomFilter
	}
	return s
}

// enter returns the state of a Put. A build that replaces it waits for leave: if it has
// not seen the count, it was replaced before the second look, and the Put tries again.
func (g *Guard) enter() *state {
	for {
		s := g.state.Load()
		s.puts.inside.Add(1)
		if g.state.Load() == s {
			return s
		}
		s.puts.leave()
	}
}

func (p *puts) leave() {
	if p.inside.Add(-1) == replaced {
		p.once.Do(func() { close(p.idle) })
	}
}

// wait waits until nobody is in a state that has been replaced.
func (p *puts) wait(ctx context.Context) error {
	if p.inside.Or(replaced)&^replaced == 0 {
		return nil
	}
	select {
	case <-p.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A layer is a filter, and how many keys it has got.
type layer struct {
	*bloom.BloomFilter

	_    [128]byte // puts write here, and lookups read above
	keys atomic.Uint64
	told atomic.Bool
	_    [64]byte
}

func newLayer(f *bloom.BloomFilter, keys uint64) *layer {
	l := &layer{BloomFilter: f}
	l.keys.Store(keys)
	return l
}

// add adds keys to a layer, if there is one, and reports whether any was new.
func (l *layer) add(keys [][]byte) bool {
	if l == nil {
		return false
	}
	added := uint64(0)
	for _, key := range keys {
		if l.Add(key) {
			added++
		}
	}
	if added > 0 {
		l.keys.Add(added)
	}
	return added > 0
}

// full reports whether the filter has got more keys than it is for.
func (l *layer) full() bool { return l.keys.Load() > l.Params().N }
