package scalable

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/tickets"
)

// A Filter is a set of keys, as a [bloom.BloomFilter] is, that grows as keys come.
// Make one with [New]; the zero Filter holds nothing and panics when used.
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	n      uint64
	p      float64
	config config
	scheme bloom.Scheme // of the first layer, to hash keys

	growing sync.Mutex // held while a layer is added
	layers  atomic.Pointer[layers]
	full    atomic.Pointer[fullError] // why there can be no further one
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
// time, 0 counts as 1: a good guess keeps it small and fast, a bad one costs no
// more than that.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1 or an option is not
// valid, and [bloom.ErrTooLarge] if the first layer takes more than the machine's
// memory or [bloom.WithMaxBytes].
func New(n uint64, p float64, opts ...Option) (*Filter, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	f := &Filter{n: n, p: p, config: c}
	first, err := f.newLayer(nil)
	if err != nil {
		return nil, err
	}
	f.scheme = first.Scheme()
	if err := digest.Check(f.scheme); err != nil {
		return nil, err
	}
	f.layers.Store(&layers{first})
	return f, nil
}

// newLayer returns the layer that comes after the given ones.
func (f *Filter) newLayer(older layers) (*layer, error) {
	i := len(older)
	if limit := f.config.maxLayers; limit > 0 && i >= limit {
		return nil, fmt.Errorf("%w: %d layers, want at most %d", bloom.ErrTooLarge, i+1, limit)
	}
	keys, rate, err := f.config.plan(f.n, f.p, i)
	if err != nil {
		return nil, err
	}
	scheme, err := bloom.NewScheme(keys, rate, f.config.bloom...)
	if err != nil { // which names the layer's n and p
		return nil, fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, i, f.n, f.p)
	}
	if limit, total := f.config.maxBytes, older.bytes()+scheme.SizeBytes(); total > limit {
		return nil, fmt.Errorf("%w: layer %d would make it %d bytes, want at most %d", bloom.ErrTooLarge, i, total, limit)
	}
	b, err := scheme.Filter()
	if err != nil {
		return nil, err
	}
	return &layer{b, tickets.New(keys, scheme.Params().M)}, nil
}

// contains asks the layers from oldest on, newest first.
func (l *layers) contains(h1, h2 uint64, oldest int) bool {
	for i := len(*l) - 1; i >= oldest; i-- {
		if (*l)[i].ContainsDigest(h1, h2) {
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
func (f *Filter) Contains(key []byte) bool { return f.ContainsDigest(f.scheme.Digest(key)) }

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool {
	return f.ContainsDigest(f.scheme.Digest(digest.Bytes(key)))
}

// ContainsDigest is [Filter.Contains] for a key whose digest is already known.
func (f *Filter) ContainsDigest(h1, h2 uint64) bool { return f.layers.Load().contains(h1, h2, 0) }

// Hash returns the 128-bit digest of a key, to hash once and ask many filters.
func (f *Filter) Digest(key []byte) (h1, h2 uint64) { return f.scheme.Digest(key) }

// DigestString is [Filter.Hash] for a string, without copying it.
func (f *Filter) DigestString(key string) (h1, h2 uint64) { return f.scheme.Digest(digest.Bytes(key)) }
