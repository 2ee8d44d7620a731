package scalable

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

type noText = layered.NoText

// A Filter is a set of keys, like [bloom.BloomFilter], that grows as keys are added. Make one
// with [New]; the zero Filter panics when used.
//
// All methods are safe for concurrent use by multiple goroutines. A Filter does not marshal to
// text, JSON or gob: use [Filter.WriteTo] and [Read].
type Filter struct {
	noText

	n      uint64
	p      float64
	opts   []bloom.Option // of every layer
	scheme bloom.Scheme   // of the first layer, to hash keys

	growing sync.Mutex // held while a layer is added
	layers  atomic.Pointer[layered.Layers]
	only    atomic.Pointer[bloom.BloomFilter] // the first layer until there is a second
	full    atomic.Pointer[fullError]         // why there can be no further layer
}

// ErrFull means that a key could not be added because the filter cannot grow.
var ErrFull = errors.New("scalable: filter full")

// A fullError is why a filter cannot have a further layer.
type fullError struct {
	cause  error
	usedUp atomic.Bool // the last layer has no room, and no add under way can make some
}

func (e *fullError) Error() string {
	return ErrFull.Error() + ": " + strings.TrimPrefix(e.cause.Error(), "bloom: ")
}

func (e *fullError) Unwrap() []error { return []error{ErrFull, e.cause} }

// New returns an empty filter whose false-positive rate stays at most p, however many keys are
// added. n is the number of keys after which it grows for the first time; 0 counts as 1.
//
// The options apply to every layer. The strategy must work on a key's digest.
// [bloom.WithMaxBytes] limits the memory of all layers together.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1 or an option is invalid, and
// [bloom.ErrTooLarge] if the first layer takes more than the machine's memory or
// [bloom.WithMaxBytes].
func New(n uint64, p float64, opts ...bloom.Option) (*Filter, error) {
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	f := &Filter{n: n, p: p, opts: slices.Clone(opts)}
	first, err := f.newLayer(nil)
	if err != nil {
		return nil, err
	}
	f.scheme = first.Scheme()
	if err := layered.CheckStrategy(f.scheme, bloom.ErrInvalid); err != nil {
		return nil, err
	}
	f.start(layered.Layers{first})
	return f, nil
}

// start makes these the filter's first layers.
func (f *Filter) start(all layered.Layers) {
	if len(all) == 1 {
		f.only.Store(all[0].BloomFilter)
	}
	f.layers.Store(&all)
}

// plan returns the number of keys and the rate of layer i: n·2^i keys at p/((i+1)(i+2)), or an error
// of the given kind if the number is too large. The rates
// sum to p.
//
// Almeida, Baquero, Preguiça & Hutchison 2007, "Scalable Bloom Filters", IPL 101(6), advise a
// geometric series of rates. This one tightens more and more slowly: the first four layers take
// up to 0.8 bits per key more than with the ratio 0.5, from the fifth on they take less, the
// eleventh 5.7 bits less.
func plan(n uint64, p float64, i int, kind error) (keys uint64, rate float64, err error) {
	keys = max(n, 1)
	if bits.Len64(keys)+i > 63 {
		return 0, 0, fmt.Errorf("%w: layer %d would be for %d·2^%d keys, want less than 2^63", kind, i, keys, i)
	}
	return keys << i, p / (float64(i+1) * float64(i+2)), nil
}

// newLayer returns the layer that follows the given ones.
func (f *Filter) newLayer(older layered.Layers) (layered.Layer, error) {
	i := len(older)
	keys, rate, err := plan(f.n, f.p, i, bloom.ErrTooLarge)
	if err != nil {
		return layered.Layer{}, err
	}
	scheme, err := bloom.NewScheme(keys, rate, f.opts...)
	if err != nil { // which names the layer's n and p
		return layered.Layer{}, fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, i, f.n, f.p)
	}
	limit := min(bloom.MaxBytes(f.opts...), memory.Limit())
	if total := older.SizeBytes() + scheme.SizeBytes(); total > limit {
		return layered.Layer{}, fmt.Errorf("%w: layer %d would make it %d bytes, want at most %d", bloom.ErrTooLarge, i, total, limit)
	}
	l, err := layered.New(scheme)
	l.Serial = uint64(i)
	return l, err
}

// Contains returns false if the key was definitely never added, true if it probably was.
func (f *Filter) Contains(key []byte) bool {
	if only := f.only.Load(); only != nil {
		return only.Contains(key)
	}
	h1, h2 := f.scheme.Digest(key)
	return f.layers.Load().Youngest(h1, h2, 0) != nil
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.Contains(digest.Bytes(key)) }

// ContainsMany looks up keys like [Filter.Contains], one after the other, but faster. It returns
// how many were probably added. If found is not nil, found[i] becomes the answer to keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	digest.CheckAnswers("scalable", len(keys), found)
	var b layered.Batch
	for first := 0; first < len(keys); first += layered.Group {
		b.Hash(f.scheme, keys[first:])
		count += f.layers.Load().Ask(&b)
		if found != nil {
			copy(found[first:], b.Found[:b.Keys])
		}
	}
	return count
}

// Layers returns the parameters of each layer, oldest first.
func (f *Filter) Layers() []bloom.Params {
	now := *f.layers.Load()
	params := make([]bloom.Params, len(now))
	for i := range now {
		params[i] = now[i].Params()
	}
	return params
}

// Stats returns the filter's numbers, in O(m). N is how many keys the present layers are for:
// with more keys the filter grows. K is that of the newest layer. EstimatedCount counts the
// keys whose Add returned true.
func (f *Filter) Stats() bloom.Stats {
	s := f.layers.Load().Stats()
	s.P = f.p
	return s
}

// String describes the filter in one line.
func (f *Filter) String() string {
	now := *f.layers.Load()
	return fmt.Sprintf("scalable.Filter(n=%d p=%g layers=%d strategy=%s bytes=%d keys=%d)",
		f.n, f.p, len(now), f.scheme.Strategy(), now.SizeBytes(), now.Keys())
}
