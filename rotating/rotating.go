package rotating

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Filter is a set of keys, like [bloom.BloomFilter], that remembers each key for a window of
// time. Make one with [New]. The zero Filter is not usable: its methods return an error or panic,
// except String.
//
// All methods are safe for concurrent use by multiple goroutines. A Filter does not marshal to
// text, JSON or gob: use [Filter.WriteTo] and [Read].
type Filter struct {
	plan   plan
	opts   []bloom.Option // of every layer
	scheme *bloom.Scheme  // of a first layer for n/generations keys
	own    uint64         // bytes reserved for each generation
	time   timeline
	layers layered.Growing
}

// New returns an empty filter that remembers a key for at least the window. Its false-positive rate stays at most p,
// however many keys are added. n is the expected number of different keys per window; 0 counts as one per generation.
//
// The window consists of 4 generations, see [WithGenerations]. A key is forgotten at most one generation after its
// window.
//
// The error wraps [bloom.ErrInvalid] if an argument is out of its range, if an option is invalid, or if
// the strategy or the hash cannot reach the rates of later layers: with 4 generations, p must be at least
// 9.1e-5 for [bloom.SplitBlock] and 9.1e-10 for [bloom.Blocked]. It wraps [bloom.ErrTooLarge] if all
// generations of n/generations keys take more than the machine's memory or [bloom.WithMaxBytes].
func New(n uint64, p float64, window time.Duration, opts ...Option) (*Filter, error) {
	c, err := newConfig(config{generations: 4}, opts)
	if err != nil {
		return nil, err
	}
	f := newFilter(plan{n, p, window, c.generations})
	f.opts = c.bloom
	if err := f.plan.validate(bloom.ErrInvalid); err != nil {
		return nil, err
	}
	if err := f.checkPlan(); err != nil {
		return nil, err
	}
	layers, err := f.withLayer(nil, 0)
	if err != nil {
		return nil, err
	}
	f.time = newTimeline(c.clock, f.plan.generation())
	f.layers.Begin(layers)
	return f, nil
}

// newFilter returns a filter without layers.
func newFilter(p plan) *Filter {
	f := &Filter{plan: p}
	f.layers.Remembers, f.layers.Next = int64(p.generations), f.withLayer
	return f
}

// Contains returns false if the key was definitely not added in the last window, true if it
// probably was, in that window or up to a generation earlier.
func (f *Filter) Contains(key []byte) bool { return f.contains(f.digest(key)) }

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.Contains(memory.BytesOf(key)) }

// digest hashes a key.
func (f *Filter) digest(key []byte) (h1, h2 uint64) {
	f.check()
	return f.scheme.Digest(key)
}

// check panics for the zero Filter.
func (f *Filter) check() {
	if f.layers.Load() == nil {
		panic("rotating: use of the zero Filter: make one by New or Read")
	}
}

// contains reads the clock only if a layer has the key: a layer is dropped only after its window, so a key that is in
// no layer is forgotten or was never added.
//
// If the window of that layer has ended, Renew may have added the key to a newer layer after contains loaded the
// layers. So contains loads the layers again: layers loaded after the clock have every key that is not forgotten.
func (f *Filter) contains(h1, h2 uint64) bool {
	now := f.layers.Load()
	l := now.Youngest(h1, h2, 0)
	if l == nil {
		return false
	}
	g := f.time.generation()
	if l.Generation >= f.layers.Oldest(now, g) {
		return true
	}
	now = f.layers.Load()
	l = now.Youngest(h1, h2, 0)
	return l != nil && l.Generation >= f.layers.Oldest(now, g)
}

// remembered returns the layers that are not forgotten. It reads the clock before it loads the layers, so that they
// have every key that is not forgotten at that time.
func (f *Filter) remembered() layered.Layers {
	g := f.time.generation()
	now := f.layers.Load()
	oldest := f.layers.Oldest(now, g)
	for i, l := range *now {
		if l.Generation >= oldest {
			return (*now)[i:]
		}
	}
	return nil
}

// ContainsMany looks up keys as [Filter.Contains] does, but faster if the layers are larger than the cache. It returns
// how many were probably added. If found is not nil, ContainsMany sets found[i] to the answer for keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	batch.CheckAnswers("rotating", len(keys), found)
	f.check()
	return layered.ContainsMany(f.scheme, keys, found, f.remembered)
}

// Window returns the window of [New].
func (f *Filter) Window() time.Duration {
	f.check()
	return f.plan.window
}

// Count returns the number of added keys that are not forgotten, without reading the bits. It counts true answers of
// Add and Renew; a renewed key counts once per generation.
func (f *Filter) Count() uint64 {
	f.check()
	return f.remembered().Keys()
}

// SizeBytes returns the number of bytes that the bits of all layers take.
func (f *Filter) SizeBytes() uint64 {
	f.check()
	return f.layers.Load().SizeBytes()
}

// Stats describes the filter, in O(m). P is the argument of [New], K is the k of the newest layer, and SizeBytes is the
// memory of all layers. The other numbers are for the layers that are not forgotten: N is the number of keys that they
// have room for, and EstimatedCount is [Filter.Count].
func (f *Filter) Stats() bloom.Stats {
	f.check()
	s := f.remembered().Stats()
	now := f.layers.Load()
	s.P, s.K, s.SizeBytes = f.plan.p, now.Newest().Params().K, now.SizeBytes()
	s.Strategy, s.Hash = f.scheme.Strategy().Name(), f.scheme.Hash().Name()
	return s
}

// String describes the filter in one line.
func (f *Filter) String() string {
	if f.layers.Load() == nil {
		return "rotating.Filter(zero)"
	}
	layers := f.remembered()
	return fmt.Sprintf("rotating.Filter(n=%d p=%g window=%v generations=%d layers=%d strategy=%s bytes=%d keys=%d)",
		f.plan.n, f.plan.p, f.plan.window, f.plan.generations, len(layers), f.scheme.Strategy(), layers.SizeBytes(), layers.Keys())
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use [Filter.WriteTo].
func (f *Filter) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a rotating.Filter", "WriteTo")
}
