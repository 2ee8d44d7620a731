package rotating

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom"
)

// An Option changes what New would choose by itself.
type Option func(*config)

type config struct {
	clock func() time.Time
	bloom []bloom.Option
}

// WithClock sets the clock, for tests and for those whose messages carry their time.
// It is called from many goroutines at once, once for each operation. It may say any
// time, the zero time.Time too. When it goes back, the filter forgets nothing until it
// has caught up; when it jumps, all that is older is forgotten at once. Generations are
// counted to 2^63, and the last one is never forgotten: at 1 µs each that is after 292,000
// years.
//
// The default is the system's, of which the monotonic reading is used: setting the
// time of day does not matter.
func WithClock(now func() time.Time) Option {
	return func(c *config) { c.clock = now }
}

// WithBloom passes options on to the layers: hash, seed or key, and strategy. The
// strategy must be one that works on a key's digest, which all are but those whose
// docs say that they need the key. [bloom.WithMaxBytes] limits the memory of all layers
// that there can be, 4 for each generation and a clean one.
func WithBloom(opts ...bloom.Option) Option {
	return func(c *config) { c.bloom = append(c.bloom, opts...) }
}

func newConfig(opts []Option) (config, error) {
	var c config
	for i, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&c)
	}
	return c, nil
}

// maxGenerations is more than anyone should want: each is asked for each lookup.
const maxGenerations = 1000

// A plan is what a filter is to keep, and what follows from it.
type plan struct {
	n           uint64
	p           float64
	window      time.Duration
	generations int
}

func (p plan) validate() error {
	switch {
	case p.window <= 0:
		return fmt.Errorf("%w: window = %v, want more than 0", bloom.ErrInvalid, p.window)
	case p.generations < 1 || p.generations > maxGenerations:
		return fmt.Errorf("%w: generations = %d, want 1 to %d", bloom.ErrInvalid, p.generations, maxGenerations)
	case p.window < time.Duration(p.generations):
		return fmt.Errorf("%w: window = %v, want at least 1 ns for each of %d generations", bloom.ErrInvalid, p.window, p.generations)
	case !(p.p > 0 && p.p < 1):
		return fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p.p)
	}
	return nil
}

// generation returns how long one is: rounded up, so that all of them together are
// no shorter than the window.
func (p plan) generation() time.Duration {
	g := time.Duration(p.generations)
	return p.window/g + min(p.window%g, 1)
}

// layerKeys returns for how many keys a layer is, at least one.
func (p plan) layerKeys() uint64 {
	g := uint64(p.generations)
	return max(1, p.n/g+min(p.n%g, 1))
}

// maxLayers returns how many layers the keys can need, if no more than n come in any
// window: 3g-1, and one for keys that take the room of two, as another layer was added while
// they were added. There is one of those at most for each goroutine that adds and each new layer;
// where a layer is for fewer keys than goroutines add, they may need more than that.
//
// Let x_0 … x_g be the keys of the generations that are kept, and c the keys of a
// layer, so that cg >= n. Generations 0 to g-1 lie within a window, and so do 1 to g:
// neither sum is above n. The first g have less than one layer each beyond sum/c <= g,
// so at most 2g-1, and the last one at most g. A burst just before the first ends and
// another after the last has begun needs 2g.
func (p plan) maxLayers() int { return 3 * p.generations }

// allLayers returns how many layers there can be: maxLayers of generations that are full at
// once, one for each of those that begin before the oldest is forgotten, and a clean one.
func (p plan) allLayers() int { return p.maxLayers() + p.generations + 1 }

// scheme returns that of a layer: as many as there can be must not err at more than p
// together.
func (p plan) scheme(opts []bloom.Option) (bloom.Scheme, error) {
	s, err := bloom.NewScheme(p.layerKeys(), p.p/float64(p.maxLayers()), opts...)
	if err != nil { // which names the layer's n and p
		return s, fmt.Errorf("%w, in each of %d layers of a filter for n = %d keys at p = %v", err, p.maxLayers(), p.n, p.p)
	}
	return s, nil
}
