package guard

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

// # Words
//
//   - A put is a call of Put. It enters the state that it finds and leaves it at its end.
//   - A build makes a filter from the keys that the store lists. One runs at a time.
//   - A layer is a filter and the number of its keys. Lookups use the current layer; puts add to the
//     current one and, during a build, to the next one.
//   - A state is these two layers. A build that publishes another state retires the one before.
//   - A retired state may have puts inside. When its last put has left, it is idle.
//   - The uncertain keys come from failed puts: the store may have them, or get them later.
//
// # Why a "no" is never false
//
// A state never changes; a build replaces it, twice:
//
//	{current: A}  →  {current: A, next: B}  →  {current: B}
//
// (A is nil before the first build.) A Put (a) loads the state and enters it, (b) adds its keys to both filters, (c)
// makes them visible in the store, (d) leaves. A build (a) publishes {A, B}, (b) waits until every earlier state is
// idle, (c) adds the store's keys and the uncertain keys to B, (d) publishes {B}.
//
//  1. When B becomes current, it has every visible key. If the key's Put entered a state before
//     {A, B}, it had left before the list began: the list has the key, or the Put failed and the
//     key is uncertain. If the Put entered {A, B} or a later state, it added the key to B.
//  2. While B is current, B has every visible key: each Put enters a state with B, or a state that
//     the build has waited for. If the key of a failed put becomes visible later, B has it by 1.
//  3. A lookup loads the state once. If A says "no", the key was not visible when the state was
//     loaded: A was current then, and would have had the key. It does not matter how much later A
//     answers, because filters never lose keys.
//
// The build must wait for all earlier states, not only the last one: a slow Put that entered {A, B} does not add its
// key to C when {B, C} replaces {B}.
//
// steps_test.go runs this code in every order of its atomic operations.
type state struct {
	filter        *bloom.BloomFilter // of current, for lookups
	current, next *layer
	puts          *puts
}

// puts counts the Puts that are inside a state. Lookups read the state, so the count has its own cache lines. A build
// that waits for the Puts of an old state refers only to this count. So the garbage collector can free the filters of
// the old state.
type puts struct {
	_      [64]byte
	inside atomic.Int64 // number of Puts in the state, plus the bit retired if it was replaced
	idle   chan struct{}
	once   sync.Once
	_      [64]byte
}

// retired is a bit of puts.inside that wait sets when the state has been replaced. A Put that enters later leaves at
// once. The last Put to leave closes idle. The bit and the count are in one word so that a Put leaves and reads the bit
// in one atomic step.
const retired = 1 << 62

func newState(current, next *layer) *state {
	s := &state{current: current, next: next, puts: &puts{idle: make(chan struct{})}}
	if current != nil {
		s.filter = current.BloomFilter
	}
	return s
}

// enter counts a Put in the current state and returns the state. A build waits until the Puts in earlier states have
// left. If the state was replaced before the Put was counted, the build may not wait for it, so enter tries again.
func (g *Guard) enter() *state {
	for {
		s := g.getState()
		s.puts.inside.Add(1)
		if g.state.Load() == s {
			return s
		}
		s.puts.leave()
	}
}

func (p *puts) leave() {
	if p.inside.Add(-1) == retired {
		p.once.Do(func() { close(p.idle) })
	}
}

// wait waits until no Put is in the retired state.
func (p *puts) wait(ctx context.Context) error {
	if p.inside.Or(retired)&^retired == 0 {
		return nil
	}
	select {
	case <-p.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A layer is a filter and the number of new keys that were added to it.
type layer struct {
	*bloom.BloomFilter

	listed uint64 // number of keys in the last list of all keys

	_    [128]byte // puts write below, lookups read above
	keys atomic.Uint64
	_    [64]byte
}

func newLayer(f *bloom.BloomFilter, keys uint64) *layer {
	l := &layer{BloomFilter: f}
	l.keys.Store(keys)
	return l
}

// add adds keys to a layer, if there is one.
func (l *layer) add(keys [][]byte) {
	if l == nil {
		return
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
}
