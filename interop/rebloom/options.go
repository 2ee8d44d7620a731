package rebloom

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// An Option changes a default of New.
type Option func(*config)

type config struct {
	expansion uint32
	noScaling bool
	bloom     []bloom.Option
	maxBytes  uint64
}

// DefaultExpansion is the expansion of BF.RESERVE by default.
const DefaultExpansion = 2

// WithExpansion is EXPANSION of BF.RESERVE: each layer is for times as many keys as the one
// before, times >= 1. The default is [DefaultExpansion].
func WithExpansion(times uint32) Option { return func(c *config) { c.expansion = times } }

// WithoutScaling is NONSCALING of BF.RESERVE: the filter has one layer, and Add returns
// [ErrFull] when it is full.
func WithoutScaling() Option { return func(c *config) { c.noScaling = true } }

// WithBloom passes options to every layer. The only one that is allowed is [bloom.WithMaxBytes],
// which limits the memory of all layers together, also when the filter grows.
func WithBloom(opts ...bloom.Option) Option {
	return func(c *config) { c.bloom = append(c.bloom, opts...) }
}

func newConfig(c config, opts []Option) (config, error) {
	for i, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&c)
	}
	c.maxBytes = bloom.MaxBytes(c.bloom...)
	// The sample fits any limit: the limit is checked when layers are made.
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: 64, K: 1}, layerOptions(append(c.bloom, bloom.WithMaxBytes(64))...)...)
	if err != nil {
		return c, err
	}
	if why := wire.Differs(s, Strategy, Hash); why != "" {
		return c, fmt.Errorf("%w: the options ask for %s", bloom.ErrInvalid, why)
	}
	return c, nil
}
