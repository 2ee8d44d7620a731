package scalable

import (
	"fmt"
	"log/slog"
	"math/bits"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Filter is a set of keys, like [bloom.BloomFilter], that grows as keys are added. Make one
// with [New]. The zero Filter is not usable: its methods return an error or panic, except String.
//
// All methods are safe for concurrent use by multiple goroutines. A Filter does not marshal to
// text, JSON or gob: use [Filter.WriteTo] and [Read].
type Filter struct {
	n      uint64
	p      float64
	opts   []bloom.Option // of every layer
	scheme *bloom.Scheme  // of the first layer, to hash keys
	layers layered.Growing
}

// New returns an empty filter whose false-positive rate stays at most p, however many keys are
// added. n is the number of keys after which it grows for the first time; 0 counts as 1.
//
// The options apply to every layer. The strategy must work on a key's digest.
// [bloom.WithMaxBytes] limits the memory of all layers together.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1, if an option is invalid, or if
// the strategy or the hash cannot reach the rates of later layers: p must be at least 4.2e-5 for
// [bloom.SplitBlock] and 4.2e-10 for [bloom.Blocked]. It wraps [bloom.ErrTooLarge] if the first
// layer takes more than the machine's memory or [bloom.WithMaxBytes].
func New(n uint64, p float64, opts ...bloom.Option) (*Filter, error) {
	if !(p > 0 && p < 1) {
		return nil, failure.Errorf(bloom.ErrInvalid, "p = %v, want 0 < p < 1", p)
	}
	f := newFilter(n, p, slices.Clone(opts))
	layers, err := f.withLayer(nil, 0)
	if err != nil {
		return nil, err
	}
	f.scheme = layers[0].Scheme()
	if err := layered.CheckStrategy(f.scheme, bloom.ErrInvalid); err != nil {
		return nil, err
	}
	if err := f.checkGrowth(); err != nil {
		return nil, err
	}
	f.layers.Begin(layers)
	return f, nil
}

// newFilter returns a filter without layers.
func newFilter(n uint64, p float64, opts []bloom.Option) *Filter {
	f := &Filter{n: n, p: p, opts: opts}
	f.layers.Next = f.withLayer
	return f
}

// promised is the number of layers that the strategy and the hash must support.
const promised = 20

// checkGrowth returns an error if the strategy or the hash cannot have the promised layers.
func (f *Filter) checkGrowth() error {
	plan := func(i int) (uint64, float64, error) { return plan(f.n, f.p, i, bloom.ErrTooLarge) }
	return layered.CheckGrowth(plan, promised-1, f.n, f.p, f.opts)
}

// plan returns the number of keys for layer i, n·2^i, and its rate. If the number is too large, it returns an error of
// the given kind.
func plan(n uint64, p float64, i int, kind error) (keys uint64, rate float64, err error) {
	keys = max(n, 1)
	if bits.Len64(keys)+i > 63 {
		return 0, 0, failure.Errorf(kind, "layer %d would be for %d·2^%d keys, want less than 2^63", i, keys, i)
	}
	return keys << i, layered.Rate(p, i), nil
}

// withLayer appends the next layer. All layers have the same generation, because the filter forgets nothing.
func (f *Filter) withLayer(now layered.Layers, generation int64) (layered.Layers, error) {
	keys, rate, err := plan(f.n, f.p, len(now), bloom.ErrTooLarge)
	if err != nil {
		return nil, err
	}
	taken, limit := now.SizeBytes(), layered.Limit(f.opts)
	next, err := layered.NewLayer(keys, rate, f.opts, limit-min(limit, taken))
	if err != nil {
		err = fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, len(now), f.n, f.p)
		if len(now) > 0 {
			err = fmt.Errorf("%w, in addition to %d of at most %d bytes", err, taken, limit)
		}
		return nil, err
	}
	return now.Append(next, generation, 0, keys), nil
}

// Contains returns false if the key was definitely never added, true if it probably was.
func (f *Filter) Contains(key []byte) bool {
	now := f.now()
	if len(now) == 1 {
		return now[0].Contains(key)
	}
	h1, h2 := f.scheme.Digest(key)
	return now.Youngest(h1, h2, 0) != nil
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.Contains(memory.BytesOf(key)) }

// ContainsMany looks up keys as [Filter.Contains] does, but faster if the layers are larger than the cache. It returns
// how many were probably added. If found is not nil, ContainsMany sets found[i] to the answer for keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	batch.CheckAnswers("scalable", len(keys), found)
	if now := f.now(); len(now) == 1 {
		return now[0].ContainsMany(keys, found)
	}
	return layered.ContainsMany(f.scheme, keys, found, f.now)
}

// now returns the present layers.
func (f *Filter) now() layered.Layers {
	if now := f.layers.Load(); now != nil {
		return *now
	}
	panic("scalable: use of the zero Filter: make one by New or Read")
}

// Layers returns the parameters of each layer, oldest first.
func (f *Filter) Layers() []bloom.Params {
	now := f.now()
	params := make([]bloom.Params, len(now))
	for i := range now {
		params[i] = now[i].Params()
	}
	return params
}

// Count returns the number of keys for which Add has returned true, without reading the bits.
func (f *Filter) Count() uint64 { return f.now().Keys() }

// SizeBytes returns the number of bytes that the bits of all layers take.
func (f *Filter) SizeBytes() uint64 { return f.now().SizeBytes() }

// Stats describes the filter, in O(m). N is the number of keys that the present layers have room for; with more keys,
// the filter grows. K is the k of the newest layer. EstimatedCount is [Filter.Count].
func (f *Filter) Stats() bloom.Stats {
	s := f.now().Stats()
	s.P = f.p
	return s
}

// String describes the filter in one line.
func (f *Filter) String() string {
	if f.layers.Load() == nil {
		return "scalable.Filter(zero)"
	}
	now := f.now()
	return fmt.Sprintf("scalable.Filter(n=%d p=%g layers=%d strategy=%s bytes=%d keys=%d)",
		f.n, f.p, len(now), f.scheme.Strategy(), now.SizeBytes(), now.Keys())
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use [Filter.WriteTo].
func (f *Filter) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a scalable.Filter", "WriteTo")
}
