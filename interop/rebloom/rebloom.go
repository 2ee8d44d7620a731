// Package rebloom shares Bloom filters with the module RedisBloom of Redis, by the chunks
// that its BF.SCANDUMP gives and its BF.LOADCHUNK takes: a filter is built here and loaded
// into the server, or taken out of the server and asked here, without a round trip for
// each key. Both are the same filter, bit for bit.
//
//	f, err := rebloom.New(1_000_000, 0.01)   // BF.RESERVE name 0.01 1000000
//	added, err := f.Add(key)                 // BF.ADD
//	for chunk := range f.Chunks() {          // BF.LOADCHUNK name chunk.Iterator chunk.Data
//
// A filter of RedisBloom is a chain of layers. When the last one has as many keys as it was
// made for, a larger one follows, for half of its rate. docs/formats.md has the scheme.
//
// RedisBloom's layers are only little-endian, as the servers are that write them.
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

// ErrFull means that a filter that does not grow has as many keys as it was made for.
var ErrFull = errors.New("rebloom: the filter is full and does not grow")

// A Filter is a filter of RedisBloom in this process. Make one with [New] or [Read].
//
// All methods are safe for concurrent use by multiple goroutines. Contains takes no lock.
// Add takes one, as RedisBloom counts each key: for the same keys in the same order, the
// bytes are the server's.
type Filter struct {
	adding    sync.Mutex
	layers    atomic.Pointer[[]*layer] // oldest first
	options   uint32
	expansion uint32
	maxBytes  uint64
}

// A layer is one filter of the chain. Its numbers are those of the chunk's header.
type layer struct {
	*bloom.BloomFilter
	rate       float64
	bitsPerKey float64
	capacity   uint64
	items      atomic.Uint64
	n2         uint8
}

// The options of a filter, as the server writes them. All that it makes have the first and
// the third.
const (
	optionNoRound    = 1 // m is no power of two
	optionSizeIsBits = 2
	optionForce64    = 4 // 64-bit hashes
	optionNoScaling  = 8
	madeBy           = optionNoRound | optionForce64
)

// New returns an empty filter: what BF.RESERVE makes for a first layer of n keys and a
// false-positive rate p. Its layers are for p/2, p/4 and so on, which together
// is p; one that does not grow is for p itself. RedisBloom sizes by the textbook's
// formula, so that small layers with a small p have a higher rate than that.
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
	next, params, err := newLayer(capacity, rate)
	if err != nil {
		return nil, err
	}
	known := f.all()
	room := f.maxBytes - sizeOf(known)
	if next.BloomFilter, err = bloom.NewWithParams(params, layerOptions(bloom.WithMaxBytes(room))...); err != nil {
		return nil, err
	}
	layers := append(known[:len(known):len(known)], next)
	f.layers.Store(&layers)
	return next, nil
}

// newLayer returns the numbers of a layer as the server computes them, without bits yet.
func newLayer(capacity uint64, rate float64) (*layer, bloom.Params, error) {
	if rate == 0 { // half of the smallest float64, which a header may have
		return nil, bloom.Params{}, fmt.Errorf("%w: a further layer would have rate 0", bloom.ErrTooLarge)
	}
	l := &layer{rate: rate, capacity: capacity, bitsPerKey: -exactlog.Log(rate) / 0.480453013918201}
	bits := math.Floor(float64(capacity) * l.bitsPerKey)
	if bits >= 1<<53 {
		return nil, bloom.Params{}, fmt.Errorf("%w: %d keys at rate %v need %.4g bits", bloom.ErrTooLarge, capacity, rate, bits)
	}
	return l, l.params((uint64(max(bits, 1))+63)/64*64, hashes(l.bitsPerKey)), nil
}

// hashes is k of a layer.
func hashes(bitsPerKey float64) int { return int(math.Ceil(0.693147180559945 * bitsPerKey)) }

func (l *layer) params(m uint64, k int) bloom.Params {
	return bloom.Params{N: l.capacity, P: l.rate, M: m, K: k}
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

func sizeOf(layers []*layer) (bytes uint64) {
	for _, l := range layers {
		bytes += l.SizeBytes()
	}
	return bytes
}

// Add adds a key, as BF.ADD does. It returns true if the key is definitely new and this
// call is the one that added it, false if it was probably there already.
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
	if last.items.Load() >= last.capacity {
		if f.options&optionNoScaling != 0 {
			return false, fmt.Errorf("%w: it has %d keys", ErrFull, last.capacity)
		}
		hi, capacity := bits.Mul64(last.capacity, uint64(f.expansion))
		if hi != 0 {
			return false, fmt.Errorf("%w: %d times %d keys", bloom.ErrTooLarge, f.expansion, last.capacity)
		}
		var err error
		if last, err = f.grow(capacity, last.rate/2); err != nil {
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

// contains asks the newest layer first, which is the largest.
func (f *Filter) contains(h1, h2 uint64) bool {
	layers := f.all()
	for i := len(layers) - 1; i >= 0; i-- {
		if layers[i].ContainsDigest(h1, h2) {
			return true
		}
	}
	return false
}
