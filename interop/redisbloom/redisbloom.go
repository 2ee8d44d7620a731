// Package redisbloom exchanges Bloom filters with Redis's module RedisBloom, in the chunks of BF.SCANDUMP and
// BF.LOADCHUNK. A program builds a filter and loads it into the server, or fetches one and queries it, without a round
// trip per key. The bits are equal.
//
//	f, err := redisbloom.New(redisbloom.Plan{N: 1_000_000, P: 0.01, Expansion: 2}) // BF.RESERVE name 0.01 1000000
//	added, err := f.Add(key)                                                       // BF.ADD
//	for iterator, data := range f.Chunks() {                                       // BF.LOADCHUNK name iterator data
//
// A filter of RedisBloom is a chain of layers. When the last layer is full, a larger layer with half its rate follows.
// In this package k is at most 255, so a filter has at most about 250 layers. With an Expansion of 2 or more, memory
// ends earlier.
package redisbloom

import (
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// A Filter is a RedisBloom filter in memory. Make one with [New] or [Read].
//
// All methods are safe for concurrent use by multiple goroutines. Contains takes no lock. Add takes one, because
// RedisBloom counts each new key. With the same keys in the same order, the bytes are those of the server. Methods of
// the zero Filter panic, except String and WriteTo. A Filter does not marshal to text, JSON or gob: use
// [Filter.WriteTo].
type Filter struct {
	adding   sync.Mutex
	header   header                         // the layers' items are not current; method state sets them in a copy
	layers   atomic.Pointer[layered.Layers] // a layer's N and P are its capacity and rate in header
	maxBytes uint64
}

// A Plan has the arguments of BF.RESERVE.
type Plan struct {
	N         uint64  // keys of the first layer
	P         float64 // false-positive rate of the whole filter
	Expansion uint32  // each layer is for this many times the keys of the one before; 0 is NONSCALING
}

// New returns the empty filter that BF.RESERVE makes. Its layers have rates p/2, p/4 and so on. The rates sum to p. A
// filter that does not grow has rate p. RedisBloom's default expansion is 2. RedisBloom sizes a layer for n keys at
// rate r by the textbook formula, so small layers with a small p have a higher rate:
//
//	b = -ln r / 0.480453013918201              bits per key
//	m = floor(n·b), rounded up to a multiple of 64
//	k = ceil(0.693147180559945·b)
//
// The only option is [bloom.WithMaxBytes]. It limits the memory of all layers together, also when the filter grows. The
// error wraps bloom.ErrInvalid if n is 0, if p is not between 0 and 1, or for another option. It wraps
// bloom.ErrTooLarge if there is too little memory.
func New(plan Plan, opts ...bloom.Option) (*Filter, error) {
	switch {
	case plan.N == 0:
		return nil, failure.Errorf(bloom.ErrInvalid, "n = 0 keys, want at least 1, as BF.RESERVE does")
	case !(plan.P > 0 && plan.P < 1):
		return nil, failure.Errorf(bloom.ErrInvalid, "p = %v, want 0 < p < 1", plan.P)
	}
	if err := checkOptions(opts); err != nil {
		return nil, err
	}
	f := &Filter{header: header{options: madeBy, expansion: plan.Expansion}, maxBytes: bloom.MaxBytes(opts...)}
	rate := plan.P / 2
	if plan.Expansion == 0 {
		f.header = header{options: madeBy | optionNoScaling, expansion: 2} // the server's default
		rate = plan.P
	}
	if err := f.grow(nil, plan.N, rate); err != nil {
		return nil, err
	}
	return f, nil
}

// required has the options of every layer.
var required = []bloom.Option{bloom.WithStrategy(Strategy), bloom.WithHash(Hash)}

// checkOptions refuses options other than bloom.WithMaxBytes.
func checkOptions(opts []bloom.Option) error {
	_, err := foreign.Scheme(bloom.Params{M: 64, K: 1}, required, opts)
	return err
}

// Plan returns the arguments of BF.RESERVE for the filter. They stay the same when the filter grows.
func (f *Filter) Plan() Plan {
	first := f.all()[0].Params()
	return f.header.plan(first.N, first.P)
}

// grow appends an empty layer to layers, and makes them the layers of f.
func (f *Filter) grow(layers layered.Layers, capacity uint64, rate float64) error {
	params, bitsPerKey, err := layerParams(capacity, rate)
	if err != nil {
		return err
	}
	if params.K > foreign.MaxK {
		return failure.Errorf(bloom.ErrTooLarge, "a layer with rate %.3g needs k = %d, want at most %d: choose a larger Expansion",
			rate, params.K, foreign.MaxK)
	}
	next, err := foreign.New(params, required, []bloom.Option{bloom.WithMaxBytes(f.maxBytes - layers.SizeBytes())})
	if err != nil {
		return err
	}
	f.header.layers = append(f.header.layers, shape{Params: params, bitsPerKey: bitsPerKey})
	layers = layers.Append(next, 0, 0, capacity)
	f.layers.Store(&layers)
	return nil
}

// all returns the present layers, oldest first.
func (f *Filter) all() layered.Layers {
	if layers := f.layers.Load(); layers != nil {
		return *layers
	}
	panic("redisbloom: use of the zero Filter: make one by New or Read")
}

// Add adds a key, as BF.ADD does. It returns true if the key is definitely new and this
// call added it, false if the key was probably added before.
//
// If the key is new and there is no room, the error wraps [bloom.ErrFull] if the filter does not grow, or
// bloom.ErrTooLarge if the next layer would exceed the memory or have a k above 255.
func (f *Filter) Add(key []byte) (bool, error) {
	return f.add(sum(key))
}

func (f *Filter) add(h1, h2 uint64) (bool, error) {
	if f.contains(h1, h2) {
		return false, nil
	}
	f.adding.Lock()
	defer f.adding.Unlock()
	layers := f.all()
	if layers.Youngest(h1, h2, 0) != nil {
		return false, nil
	}
	last := layers.Newest()
	ticket := last.Tickets.Take(h1)
	if ticket == nil {
		p := last.Params()
		if !f.header.scaling() {
			return false, failure.Errorf(bloom.ErrFull, "it has %d keys and does not grow", p.N)
		}
		hi, capacity := bits.Mul64(p.N, uint64(f.header.expansion))
		if hi != 0 {
			return false, failure.Errorf(bloom.ErrTooLarge, "%d times %d keys", f.header.expansion, p.N)
		}
		if err := f.grow(layers, capacity, p.P/2); err != nil {
			return false, err
		}
		layers = f.all()
		ticket = layers.Newest().Tickets.Take(h1)
	}
	return layers.Newest().Add(h1, h2, ticket), nil
}

// AddMany adds keys in order, as [Filter.Add] does, but faster if the layers are larger than the cache. It returns how
// many were definitely new. If added is not nil, AddMany sets added[i] to the answer for keys[i]. It stops at the first
// error.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	batch.CheckAnswers("redisbloom", len(keys), added)
	return layered.AddMany(f.all()[0].Scheme(), keys, added, f.all, f.add)
}

// Contains returns false if the key was definitely never added, true if it probably was,
// as BF.EXISTS does.
func (f *Filter) Contains(key []byte) bool { return f.contains(sum(key)) }

func (f *Filter) contains(h1, h2 uint64) bool { return f.all().Youngest(h1, h2, 0) != nil }

// ContainsMany looks up keys as [Filter.Contains] does, but faster if the layers are larger than the cache. It returns
// how many were probably added. If found is not nil, ContainsMany sets found[i] to the answer for keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) int {
	batch.CheckAnswers("redisbloom", len(keys), found)
	return layered.ContainsMany(f.all()[0].Scheme(), keys, found, f.all)
}

// Layers returns the parameters of each layer, oldest first.
func (f *Filter) Layers() (params []bloom.Params) {
	for _, l := range f.all() {
		params = append(params, l.Params())
	}
	return params
}

// SizeBytes returns the number of bytes that the bits of all layers take.
func (f *Filter) SizeBytes() uint64 { return f.all().SizeBytes() }

// String describes the filter in one line.
func (f *Filter) String() string {
	if f.layers.Load() == nil {
		return "redisbloom.Filter(zero)"
	}
	plan, layers := f.Plan(), f.all()
	return fmt.Sprintf("redisbloom.Filter(n=%d p=%g expansion=%d layers=%d bytes=%d keys=%d)",
		plan.N, plan.P, plan.Expansion, len(layers), layers.SizeBytes(), layers.Keys())
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// Stats describes all layers together, in O(m). N is the capacity that BF.INFO reports. EstimatedCount is its number of
// items, which is counted, not estimated. P is that of the [Plan], and K that of the newest layer.
func (f *Filter) Stats() bloom.Stats {
	s := f.all().Stats()
	s.P = f.Plan().P
	return s
}

// MarshalText returns an error, so that encoding/json and encoders of XML, YAML and TOML do not write an empty value.
// Use [Filter.WriteTo].
func (f *Filter) MarshalText() ([]byte, error) {
	return nil, failure.NoText("a redisbloom.Filter", "WriteTo")
}
