package rotating

import (
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// An Option changes a default of [New].
type Option func(*config)

type config struct {
	generations int
	clock       func() time.Time
	bloom       []bloom.Option
}

// WithGenerations sets the number of generations per window, 1 to 1000. The default is 4: a key is forgotten 1 to 1.25
// windows after it was added. More generations make this time more exact; each costs one more lookup.
func WithGenerations(count int) Option {
	return func(c *config) { c.generations = count }
}

// WithClock sets the clock, for tests and for messages that carry their time. now is called from many goroutines at
// once, and may return any time: see Clock in the package documentation. The default is time.Now.
func WithClock(now func() time.Time) Option {
	return func(c *config) { c.clock = now }
}

// WithBloom passes options to the layers: hash, seed or secret, and strategy. The strategy must
// work on a key's digest. [bloom.WithMaxBytes] limits the memory of all layers together.
func WithBloom(opts ...bloom.Option) Option {
	return func(c *config) { c.bloom = append(c.bloom, opts...) }
}

func newConfig(c config, opts []Option) (config, error) {
	for i, opt := range opts {
		if opt == nil {
			return c, failure.Errorf(bloom.ErrInvalid, "option %d of %d is nil", i+1, len(opts))
		}
		opt(&c)
	}
	return c, nil
}

const maxGenerations = 1000

// A plan has the parameters of a filter.
type plan struct {
	n           uint64
	p           float64
	window      time.Duration
	generations int
}

// validate returns an error of the given kind if a parameter is invalid.
func (p plan) validate(kind error) error {
	switch {
	case p.window <= 0:
		return failure.Errorf(kind, "window = %v, want more than 0", p.window)
	case p.generations < 1 || p.generations > maxGenerations:
		return failure.Errorf(kind, "generations = %d, want 1 to %d", p.generations, maxGenerations)
	case p.window < time.Duration(p.generations):
		return failure.Errorf(kind, "window = %v, want at least 1 ns for each of %d generations", p.window, p.generations)
	case !(p.p > 0 && p.p < 1):
		return failure.Errorf(kind, "p = %v, want 0 < p < 1", p.p)
	}
	return nil
}

// generation returns the length of a generation. It is rounded up, so that all generations together are not shorter
// than the window.
func (p plan) generation() time.Duration {
	g := time.Duration(p.generations)
	return p.window/g + min(p.window%g, 1)
}
