package scalable

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/tickets"
)

// ErrFull means that a key could not be added because the filter may not or cannot
// grow any more.
var ErrFull = errors.New("scalable: filter full")

// A Filter is a set of keys, as a [bloom.BloomFilter] is, that grows as keys come.
// Make one with [New]; the zero Filter holds nothing and panics when used.
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	n      uint64
	p      float64
	config config
	hasher *bloom.BloomFilter

	growing sync.Mutex // held while a layer is born
	layers  atomic.Pointer[layers]
	full    atomic.Pointer[error] // why there can be no further one
}

// layers are those at some moment, oldest first. They are never changed, only
// replaced by others that begin with the same.
type layers []*layer

// A layer has a ticket for each of the keys that it is sized for.
type layer struct {
	*bloom.BloomFilter
	tickets *tickets.Box
}

// New returns an empty filter whose false-positive rate stays at most p, however
// many keys are added. n is the number of keys after which it grows for the first
// time: a good guess keeps it small and fast, a bad one costs no more than that.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1, or an
// option is not valid, [bloom.ErrTooLarge] if the machine has too little memory, and
// [ErrFull] if the first layer is already beyond a limit.
func New(n uint64, p float64, opts ...Option) (*Filter, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("scalable: %w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	f := &Filter{n: n, p: p, config: c}
	if f.hasher, err = digest.Hasher("scalable", c.bloom); err != nil {
		return nil, err
	}
	first, err := f.newLayer(nil)
	if err != nil {
		return nil, err
	}
	f.layers.Store(&layers{first})
	return f, nil
}

// newLayer returns the layer that comes after the given ones.
func (f *Filter) newLayer(older layers) (*layer, error) {
	i := len(older)
	if limit := f.config.maxLayers; limit > 0 && i >= limit {
		return nil, fmt.Errorf("%w: %d layers, which is the limit", ErrFull, limit)
	}
	keys, rate, err := f.config.plan(f.n, f.p, i)
	if err != nil && i == 0 {
		return nil, fmt.Errorf("scalable: %w: %w", bloom.ErrTooLarge, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	scheme, err := bloom.NewScheme(keys, rate, f.config.bloom...)
	if err == nil {
		if limit, total := f.config.maxBytes, older.bytes()+scheme.SizeBytes(); limit > 0 && total > limit {
			return nil, fmt.Errorf("%w: layer %d would make it %d bytes, the limit is %d", ErrFull, i, total, limit)
		}
	}
	var b *bloom.BloomFilter
	if err == nil {
		b, err = scheme.Filter()
	}
	switch {
	case err == nil:
		return &layer{b, tickets.New(keys)}, nil
	case i == 0:
		return nil, err
	}
	return nil, fmt.Errorf("%w: layer %d: %w", ErrFull, i, err)
}

// Add adds a key. It returns true if the key is definitely new and this call is the
// one that added it, false if it was probably there already.
//
// Of any number of goroutines that add the same new key at the same time, exactly
// one gets true. The exception is that of [bloom.BloomFilter.Add]: another key's add
// that sets this one's last missing bit in those nanoseconds.
//
// The error wraps [ErrFull] if the key is new and there is no room for it; then the
// key is not in the filter. Once Add has returned without an error, every later
// Contains of the key is true.
func (f *Filter) Add(key []byte) (bool, error) { return f.AddHash(f.hasher.Hash(key)) }

// AddString is [Filter.Add] for a string, without copying it: a string and its bytes
// are the same key.
func (f *Filter) AddString(key string) (bool, error) { return f.AddHash(f.hasher.HashString(key)) }

// How an add finds its one winner while a layer is born
//
// Two goroutines that add the same key may see different newest layers: one still
// layer 1, the other already layer 2. Each could be the winner of its layer. So who
// wins in a layer looks whether it is still the newest, and has not won until it
// is: otherwise it goes on to the newest one and races there too.
//
// At most one winner. Let A win in layer a and B in layer b. In one layer there is
// one winner, so let a < b. A saw a still newest after its bits were complete, so B,
// who saw b, saw it later than that. When B first saw a layer newer than a, it looked
// into all older ones but those that it had won itself, which a is not, as A has won
// it. There it found the key: B cannot have won.
//
// At least one. Let b be the newest layer to which any of them adds the key. The
// winner of b goes no further, so it has found b still newest: it has won. And one
// that returns false because it has found the key has found what another one added.
//
// TestOneWinnerInEveryInterleaving has all of that as a model.

// AddHash is [Filter.Add] for a key whose digest is already known, from
// [Filter.Hash] of this filter or one with the same hash and seed or key.
func (f *Filter) AddHash(h1, h2 uint64) (bool, error) {
	for looked := 0; ; { // layers before that do not have the key, or have it from us
		now := f.layers.Load()
		if now.contains(h1, h2, looked) {
			return false, nil
		}
		newest := (*now)[len(*now)-1]
		took := newest.tickets.Take()
		if !took {
			err := f.grow(now)
			if err == nil {
				continue
			}
			if looked == 0 {
				return false, err
			}
			// The key is already in an older layer, and all that is open is who has
			// won. It may as well be in this one too.
		}
		if !newest.AddHash(h1, h2) {
			if took {
				newest.tickets.Give()
			}
			return false, nil
		}
		if f.layers.Load() == now {
			return true, nil
		}
		looked = len(*now)
	}
}

// grow adds a layer to the given ones, unless someone else already has. What stands in the
// way of one stays there: limits and the machine's memory do not change.
func (f *Filter) grow(now *layers) error {
	if full := f.full.Load(); full != nil {
		return *full
	}
	f.growing.Lock()
	defer f.growing.Unlock()
	if f.layers.Load() != now {
		return nil
	}
	next, err := f.newLayer(*now)
	if err != nil {
		f.full.Store(&err)
		return err
	}
	grown := append((*now)[:len(*now):len(*now)], next)
	f.layers.Store(&grown)
	return nil
}

// contains asks the layers from oldest on, newest first.
func (l *layers) contains(h1, h2 uint64, oldest int) bool {
	for i := len(*l) - 1; i >= oldest; i-- {
		if (*l)[i].ContainsHash(h1, h2) {
			return true
		}
	}
	return false
}

func (l layers) bytes() (sum uint64) {
	for _, layer := range l {
		sum += layer.SizeBytes()
	}
	return sum
}

// Contains returns false if the key was definitely never added, true if it probably
// was.
func (f *Filter) Contains(key []byte) bool { return f.ContainsHash(f.hasher.Hash(key)) }

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.ContainsHash(f.hasher.HashString(key)) }

// ContainsHash is [Filter.Contains] for a key whose digest is already known.
func (f *Filter) ContainsHash(h1, h2 uint64) bool { return f.layers.Load().contains(h1, h2, 0) }

// Hash returns the 128-bit digest of a key, to hash once and ask many filters.
func (f *Filter) Hash(key []byte) (h1, h2 uint64) { return f.hasher.Hash(key) }

// HashString is [Filter.Hash] for a string, without copying it.
func (f *Filter) HashString(key string) (h1, h2 uint64) { return f.hasher.HashString(key) }
