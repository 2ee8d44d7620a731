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
// It is called from many goroutines at once, once for each operation. When it goes
// back, the filter forgets nothing until it has caught up.
//
// Times are written to files as nanoseconds since 1970: those before 1678 or after 2262
// have none.
//
// The default is the system's, of which the monotonic reading is used: setting the
// time of day does not matter.
func WithClock(now func() time.Time) Option {
	return func(c *config) { c.clock = now }
}

// WithBloom passes options on to the layers: hash, seed or key, and strategy. The
// strategy must be one that works on a key's digest, which all are but those whose
// docs say that they need the key.
func WithBloom(opts ...bloom.Option) Option {
	return func(c *config) { c.bloom = append(c.bloom, opts...) }
}

func newConfig(opts []Option) config {
	var c config
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// maxGenerations is more than anyone should want: each is asked for each lookup.
const maxGenerations = 1000

// A plan is what a filter is to keep, and what follows from it.
type plan struct {
	window      time.Duration
	generations int
	n           uint64
	p           float64
}

func (p plan) validate() error {
	switch {
	case p.window <= 0:
		return fmt.Errorf("rotating: %w: window = %v, want more than 0", bloom.ErrInvalid, p.window)
	case p.generations < 1 || p.generations > maxGenerations:
		return fmt.Errorf("rotating: %w: generations = %d, want 1 to %d", bloom.ErrInvalid, p.generations, maxGenerations)
	case p.window < time.Duration(p.generations):
		return fmt.Errorf("rotating: %w: window = %v, want at least 1 ns for each of %d generations", bloom.ErrInvalid, p.window, p.generations)
	case !(p.p > 0 && p.p < 1):
		return fmt.Errorf("rotating: %w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p.p)
	}
	return nil
}

// generation returns how long one is: rounded up, so that all of them together are
// no shorter than the window.
func (p plan) generation() time.Duration {
	g := time.Duration(p.generations)
	return p.window/g + min(p.window%g, 1)
}

// layerKeys returns for how many keys a layer is.
func (p plan) layerKeys() uint64 {
	g := uint64(p.generations)
	return max(1, p.n/g+min(p.n%g, 1)) // n = 0 too
}

// maxLayers returns how many layers the keys can need, if no more than n come in any
// window: 3g-1, and one for tickets that were out of sight while they were moved.
//
// Let x_0 … x_g be the keys of the generations that are kept, and c the keys of a
// layer, so that cg >= n. Generations 0 to g-1 lie within a window, and so do 1 to g:
// neither sum is above n. The first g have less than one layer each beyond sum/c <= g,
// so at most 2g-1, and the last one at most g. A burst just before the first ends and
// another after the last has begun needs 2g.
func (p plan) maxLayers() int { return 3 * p.generations }

// scheme returns that of a layer: as many as there can be must not err at more than p
// together.
func (p plan) scheme(opts []bloom.Option) (bloom.Scheme, error) {
	return bloom.NewScheme(p.layerKeys(), p.p/float64(p.maxLayers()), opts...)
}
