package rotating

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/tickets"
)

// A Filter is a set of keys, as a [bloom.BloomFilter] is, that remembers each for a
// window of time. Make one with [New]; the zero Filter holds nothing and panics when
// used.
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	plan   plan
	scheme bloom.Scheme // of a layer
	time   timeline

	live   atomic.Pointer[live]
	wanted atomic.Int64 // the newest generation that somebody waits for

	turning sync.Mutex // held while a layer is added
	serial  uint64     // of the newest layer
	stock   stock
}

// live is what is remembered at some moment, oldest first, at least one. It is never
// changed, only replaced by another.
type live []entry

// An entry is a layer and the generation whose keys it has.
type entry struct {
	*layer
	generation int64
	serial     uint64 // in the order in which they were added
}

// A layer has a ticket for each of the keys that it is sized for. Who writes to it is
// inside of it meanwhile.
type layer struct {
	*bloom.BloomFilter
	tickets *tickets.Box
}

// New returns an empty filter that remembers a key for at least the window, and for at
// most one generation longer: the window divided by generations, 1 to 1000. While at
// most n different keys are added in any one window, its false-positive rate is at most
// p. A window may be as short as 1 ns for each generation, and n may be 0, which is as
// good as 1 for each.
//
// The error wraps [bloom.ErrInvalid] if one of them is out of its range or an option is
// not valid, and [bloom.ErrTooLarge] if a layer takes more than the machine's memory, or
// all that there can be take more than [bloom.WithMaxBytes].
func New(n uint64, p float64, window time.Duration, generations int, opts ...Option) (*Filter, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	f, err := newFilter(plan{n, p, window, generations}, c)
	if err != nil {
		return nil, err
	}
	first, err := f.newLayer()
	if err != nil {
		return nil, err
	}
	f.live.Store(&live{{layer: first}})
	return f, nil
}

// newFilter returns a filter without any layer.
func newFilter(p plan, c config) (*Filter, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	f := &Filter{plan: p}
	var err error
	if f.scheme, err = p.scheme(c.bloom); err != nil {
		return nil, err
	}
	if err := digest.Check(f.scheme); err != nil {
		return nil, err
	}
	if limit := bloom.MaxBytes(c.bloom...); f.scheme.SizeBytes() > limit/uint64(p.allLayers()) {
		return nil, fmt.Errorf("%w: %d layers of %d bytes, want at most %d bytes in all", bloom.ErrTooLarge, p.allLayers(), f.scheme.SizeBytes(), limit)
	}
	f.time = newTimeline(c.clock, p.generation())
	return f, nil
}

func (f *Filter) newLayer() (*layer, error) {
	b, err := f.scheme.Filter()
	if err != nil {
		return nil, err
	}
	return &layer{b, tickets.New(f.plan.layerKeys(), b.Params().M)}, nil
}

// newest returns the layer that keys are added to.
func (l *live) newest() *entry { return &(*l)[len(*l)-1] }

// generation returns which generation it is, where the clock says g: not one before those
// that have already begun.
func (l *live) generation(g int64) int64 { return max(g, l.newest().generation) }

// youngest returns the generation of the newest layer that has the key, of those from
// the oldest generation and the given serial number on, and -1 if none has it.
func (l *live) youngest(h1, h2 uint64, oldest int64, serial uint64) int64 {
	for i := len(*l) - 1; i >= 0; i-- {
		e := &(*l)[i]
		if e.generation < oldest || e.serial < serial {
			break
		}
		if e.ContainsDigest(h1, h2) {
			return e.generation
		}
	}
	return -1
}
