package rebloom

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// An Option changes what New would choose by itself.
type Option func(*config)

type config struct {
	expansion uint32
	noScaling bool
	bloom     []bloom.Option
	maxBytes  uint64
}

// DefaultExpansion is how many times as many keys as the one before each layer is for,
// unless BF.RESERVE says otherwise.
const DefaultExpansion = 2

// WithExpansion is EXPANSION of BF.RESERVE: each new layer is for so many times as many
// keys as the one before, at least 1. The default is [DefaultExpansion].
func WithExpansion(times uint32) Option { return func(c *config) { c.expansion = times } }

// WithoutScaling is NONSCALING of BF.RESERVE: there is one layer, and when it is full Add
// returns [ErrFull].
func WithoutScaling() Option { return func(c *config) { c.noScaling = true } }

// WithBloom passes options on to every layer. The only one that RedisBloom's format has a
// place for is [bloom.WithMaxBytes], which limits the memory of all layers together, also
// when the filter grows.
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
	// A limit is for each layer, when it is made. Here it would refuse the sample.
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: 64, K: 1}, layerOptions(append(c.bloom, bloom.WithMaxBytes(64))...)...)
	if err != nil {
		return c, err
	}
	if why := wire.Differs(s, Strategy, Hash); why != "" {
		return c, fmt.Errorf("%w: the options ask for %s", bloom.ErrInvalid, why)
	}
	return c, nil
}
