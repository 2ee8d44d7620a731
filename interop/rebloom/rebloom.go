// Package rebloom exchanges Bloom filters with Redis's module RedisBloom, as the chunks of
// BF.SCANDUMP and BF.LOADCHUNK. A program builds a filter and loads it into the server, or
// fetches one and queries it, without a round trip per key. Both are equal bit for bit.
//
//	f, err := rebloom.New(1_000_000, 0.01)   // BF.RESERVE name 0.01 1000000
//	added, err := f.Add(key)                 // BF.ADD
//	for chunk := range f.Chunks() {          // BF.LOADCHUNK name chunk.Iterator chunk.Data
//
// A filter of RedisBloom is a chain of layers. When the last one has as many keys as it was
// made for, a larger one with half its rate follows. docs/formats.md has the formulas.
package rebloom

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/exactlog"
)

// ErrFull is the error of adding a key to a full filter that does not grow.
var ErrFull = errors.New("rebloom: the filter is full and does not grow")

// A Filter is a filter of RedisBloom in this process. Make one with [New] or [Read].
//
// All methods are safe for concurrent use by multiple goroutines. Contains takes no lock.
// Add takes one because RedisBloom counts each new key. The same keys in the same order make
// the server's bytes.
type Filter struct {
	adding    sync.Mutex
	layers    atomic.Pointer[[]*layer] // oldest first
	options   uint32
	expansion uint32
	maxBytes  uint64
}

// A layer is one filter of the chain. Its n and p are the capacity and the rate in the header.
type layer struct {
	*bloom.BloomFilter
	bitsPerKey float64
	items      atomic.Uint64
}

// The options of a filter in its header. RedisBloom sets the first two for all its filters.
const (
	optionNoRound   = 1 // m is not rounded to a power of two
	optionForce64   = 4 // 64-bit hashes
	optionNoScaling = 8
	madeBy          = optionNoRound | optionForce64
)

// New returns the empty filter that BF.RESERVE makes for a first layer of n keys and a
// false-positive rate p. Its layers have rates p/2, p/4 and so on, p together. A filter that
// does not grow has rate p. RedisBloom sizes by the textbook formula, so small layers with a
// small p have a higher rate.
//
// The error wraps bloom.ErrInvalid if n is 0, p is not between 0 and 1 or the expansion
// is 0, and bloom.ErrTooLarge if there is too little memory.
func New(n uint64, p float64, opts ...Option) (*Filter, error) {
	c, err := newConfig(config{expansion: DefaultExpansion}, opts)
	if err != nil {
		return nil, err
	}
	switch {
	case n == 0:
		return nil, fmt.Errorf("%w: n = 0 keys, want at least 1, as BF.RESERVE does", bloom.ErrInvalid)
	case !(p > 0 && p < 1):
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	case c.expansion == 0:
		return nil, fmt.Errorf("%w: expansion 0, want at least 1", bloom.ErrInvalid)
	}
	f := &Filter{options: madeBy, expansion: c.expansion, maxBytes: c.maxBytes}
	rate := p / 2
	if c.noScaling {
		f.options |= optionNoScaling
		rate = p
	}
	if _, err := f.grow(n, rate); err != nil {
		return nil, err
	}
	return f, nil
}

// grow appends an empty layer.
func (f *Filter) grow(capacity uint64, rate float64) (*layer, error) {
	params, bitsPerKey, err := layerParams(capacity, rate)
	if err != nil {
		return nil, err
	}
	known := f.all()
	room := bloom.WithMaxBytes(f.maxBytes - sizeOf(known))
	filter, err := bloom.NewWithParams(params, layerOptions(room)...)
	if err != nil {
		return nil, err
	}
	next := &layer{BloomFilter: filter, bitsPerKey: bitsPerKey}
	layers := append(known[:len(known):len(known)], next)
	f.layers.Store(&layers)
	return next, nil
}

// layerParams returns the numbers of a layer as the server computes them.
func layerParams(capacity uint64, rate float64) (p bloom.Params, bitsPerKey float64, err error) {
	if rate == 0 { // half of the smallest float64, which a header may have
		return p, 0, fmt.Errorf("%w: a further layer would have rate 0", bloom.ErrTooLarge)
	}
	bitsPerKey = -exactlog.Log(rate) / 0.480453013918201
	bits := math.Floor(float64(capacity) * bitsPerKey)
	if bits >= 1<<53 {
		return p, 0, fmt.Errorf("%w: %d keys at rate %v need %.4g bits", bloom.ErrTooLarge, capacity, rate, bits)
	}
	k := int(math.Ceil(0.693147180559945 * bitsPerKey))
	return bloom.Params{N: capacity, P: rate, M: (uint64(max(bits, 1)) + 63) / 64 * 64, K: k}, bitsPerKey, nil
}

func layerOptions(opts ...bloom.Option) []bloom.Option {
	return append([]bloom.Option{bloom.WithStrategy(Strategy), bloom.WithHash(Hash)}, opts...)
}

// all returns the layers of now, oldest first.
func (f *Filter) all() []*layer {
	if layers := f.layers.Load(); layers != nil {
		return *layers
	}
	return nil
}

// Add adds a key, as BF.ADD does. It returns true if the key is definitely new and this
// call added it, false if the key was probably added before.
//
// The error wraps [ErrFull] or bloom.ErrTooLarge if the key is new and there is no room.
func (f *Filter) Add(key []byte) (bool, error) {
	return f.add(sum(key))
}

// AddString is [Filter.Add] for a string.
func (f *Filter) AddString(key string) (bool, error) {
	return f.add(sumString(key))
}

func (f *Filter) add(h1, h2 uint64) (bool, error) {
	if f.contains(h1, h2) {
		return false, nil
	}
	f.adding.Lock()
	defer f.adding.Unlock()
	if f.contains(h1, h2) {
		return false, nil
	}
	layers := f.all()
	last := layers[len(layers)-1]
	if p := last.Params(); last.items.Load() >= p.N {
		if f.options&optionNoScaling != 0 {
			return false, fmt.Errorf("%w: it has %d keys", ErrFull, p.N)
		}
		hi, capacity := bits.Mul64(p.N, uint64(f.expansion))
		if hi != 0 {
			return false, fmt.Errorf("%w: %d times %d keys", bloom.ErrTooLarge, f.expansion, p.N)
		}
		var err error
		if last, err = f.grow(capacity, p.P/2); err != nil {
			return false, err
		}
	}
	last.items.Add(1)
	last.AddDigest(h1, h2)
	return true, nil
}

// Contains returns false if the key was definitely never added, true if it probably was,
// as BF.EXISTS does.
func (f *Filter) Contains(key []byte) bool {
	return f.contains(sum(key))
}

// ContainsString is [Filter.Contains] for a string.
func (f *Filter) ContainsString(key string) bool {
	return f.contains(sumString(key))
}

// contains looks in the newest layer first, which is the largest.
func (f *Filter) contains(h1, h2 uint64) bool {
	layers := f.all()
	for i := len(layers) - 1; i >= 0; i-- {
		if layers[i].ContainsDigest(h1, h2) {
			return true
		}
	}
	return false
}
