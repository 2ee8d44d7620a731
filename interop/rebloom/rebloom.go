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

// DefaultExpansion is how many times as many keys as the one before each layer is for,
// unless BF.RESERVE says otherwise.
const DefaultExpansion = 2

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

// An Option changes what New would choose by itself.
type Option func(*config)

type config struct {
	expansion uint32
	noScaling bool
	maxBytes  uint64
}

// WithExpansion is EXPANSION of BF.RESERVE: each new layer is for so many times as many
// keys as the one before, at least 1. The default is [DefaultExpansion].
func WithExpansion(times uint32) Option { return func(c *config) { c.expansion = times } }

// WithoutScaling is NONSCALING of BF.RESERVE: there is one layer, and when it is full Add
// returns [ErrFull].
func WithoutScaling() Option { return func(c *config) { c.noScaling = true } }

// WithMaxBytes refuses a filter whose bits take more than the given bytes of memory, by
// an error that wraps bloom.ErrTooLarge; also when it grows. Without it the limit is the
// machine's memory.
func WithMaxBytes(bytes uint64) Option { return func(c *config) { c.maxBytes = bytes } }

// New returns an empty filter: what BF.RESERVE makes for a first layer of n keys and a
// false-positive rate p. Its layers are for p/2, p/4 and so on, which together
// is p; one that does not grow is for p itself. RedisBloom sizes by the textbook's
// formula, so that small layers with a small p have a higher rate than that.
//
// The error wraps bloom.ErrInvalid if n is 0, p is not between 0 and 1 or the expansion
// is 0, and bloom.ErrTooLarge if there is too little memory.
func New(n uint64, p float64, opts ...Option) (*Filter, error) {
	c := config{expansion: DefaultExpansion, maxBytes: math.MaxUint64}
	for _, opt := range opts {
		opt(&c)
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
	first, err := newLayer(n, rate)
	if err != nil {
		return nil, err
	}
	return f, f.grow(nil, first)
}

// newLayer returns an empty layer as the server makes it.
func newLayer(capacity uint64, rate float64) (*layer, error) {
	l := &layer{rate: rate, capacity: capacity, bitsPerKey: -exactlog.Log(rate) / 0.480453013918201}
	bits := math.Floor(float64(capacity) * l.bitsPerKey)
	if bits >= 1<<53 {
		return nil, fmt.Errorf("%w: %d keys at rate %v need %.4g bits", bloom.ErrTooLarge, capacity, rate, bits)
	}
	m := (uint64(max(bits, 1)) + 63) / 64 * 64
	return l, l.make(m, hashes(l.bitsPerKey))
}

// hashes is k of a layer.
func hashes(bitsPerKey float64) int { return int(math.Ceil(0.693147180559945 * bitsPerKey)) }

// scheme is that of a layer.
func scheme(m uint64, k int) (bloom.Scheme, error) {
	return bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(Strategy), bloom.WithHash(Hash))
}

func (l *layer) make(m uint64, k int) error {
	s, err := scheme(m, k)
	if err != nil {
		return err
	}
	if l.BloomFilter, err = s.Filter(); err != nil {
		return err
	}
	return nil
}

// grow appends a layer to those that are known.
func (f *Filter) grow(known []*layer, next *layer) error {
	layers := append(known[:len(known):len(known)], next)
	bytes := uint64(0)
	for _, l := range layers {
		bytes += l.SizeBytes()
	}
	if bytes > f.maxBytes {
		return fmt.Errorf("%w: %d layers are %d bytes, want at most %d", bloom.ErrTooLarge, len(layers), bytes, f.maxBytes)
	}
	f.layers.Store(&layers)
	return nil
}

// Add adds a key, as BF.ADD does. It returns true if the key is definitely new and this
// call is the one that added it, false if it was probably there already.
//
// The error wraps [ErrFull] or bloom.ErrTooLarge if the key is new and there is no room.
func (f *Filter) Add(key []byte) (bool, error) {
	h1, h2 := digest(key)
	return f.add(h1, h2)
}

// AddString is [Filter.Add] for a string.
func (f *Filter) AddString(key string) (bool, error) {
	h1, h2 := digestString(key)
	return f.add(h1, h2)
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
	layers := *f.layers.Load()
	last := layers[len(layers)-1]
	if last.items.Load() >= last.capacity {
		if f.options&optionNoScaling != 0 {
			return false, fmt.Errorf("%w: it has %d keys", ErrFull, last.capacity)
		}
		hi, capacity := bits.Mul64(last.capacity, uint64(f.expansion))
		if hi != 0 {
			return false, fmt.Errorf("%w: %d times %d keys", bloom.ErrTooLarge, f.expansion, last.capacity)
		}
		next, err := newLayer(capacity, last.rate/2)
		if err != nil {
			return false, err
		}
		if err := f.grow(layers, next); err != nil {
			return false, err
		}
		last = next
	}
	last.items.Add(1)
	last.AddHash(h1, h2)
	return true, nil
}

// Contains returns false if the key was definitely never added, true if it probably was,
// as BF.EXISTS does.
func (f *Filter) Contains(key []byte) bool {
	h1, h2 := digest(key)
	return f.contains(h1, h2)
}

// ContainsString is [Filter.Contains] for a string.
func (f *Filter) ContainsString(key string) bool {
	h1, h2 := digestString(key)
	return f.contains(h1, h2)
}

// contains asks the newest layer first, which is the largest.
func (f *Filter) contains(h1, h2 uint64) bool {
	layers := *f.layers.Load()
	for i := len(layers) - 1; i >= 0; i-- {
		if layers[i].ContainsHash(h1, h2) {
			return true
		}
	}
	return false
}

// Info is what BF.INFO says.
type Info struct {
	Capacity  uint64 // keys that all layers are for
	SizeBytes uint64 // memory of the bits; the server's size has that of its structures too
	Layers    int
	Items     uint64 // keys that were new when they were added
	Expansion uint32 // 0 if the filter does not grow
}

// Info returns the filter's numbers, in constant time.
func (f *Filter) Info() Info {
	layers := *f.layers.Load()
	info := Info{Layers: len(layers), Expansion: f.expansion}
	if f.options&optionNoScaling != 0 {
		info.Expansion = 0
	}
	for _, l := range layers {
		info.Capacity += l.capacity
		info.SizeBytes += l.SizeBytes()
		info.Items += l.items.Load()
	}
	return info
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	i := f.Info()
	return fmt.Sprintf("RedisBloom filter of %d layers for %d keys, %d keys, %d bytes", i.Layers, i.Capacity, i.Items, i.SizeBytes)
}
