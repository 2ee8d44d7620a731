package scalable

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// An Option changes what New would choose by itself.
type Option func(*config)

type config struct {
	growth     float64
	tightening float64 // 0: the default series
	maxLayers  int     // 0: no limit
	maxBytes   uint64  // of all layers together
	bloom      []bloom.Option

	set struct{ growth, tightening, maxLayers bool }
}

// WithGrowth sets how many times as many keys each layer holds as the one before,
// from 1 to 1000. The default is 2. More means fewer layers, so faster lookups, and
// more memory that is not used yet.
func WithGrowth(factor float64) Option {
	return func(c *config) { c.growth, c.set.growth = factor, true }
}

// WithTightening makes the layers' rates a geometric series, as in the paper: layer
// i, from 0, has p·(1-r)·r^i, for 0 < r < 1. RedisBloom has r = 0.5; the paper
// advises 0.8 to 0.9 for a growth of 2.
//
// By default layer i has p/((i+1)(i+2)), a series that also sums to p, but tightens more
// and more slowly: the first four layers take up to 0.8 bits a key more than with
// r = 0.5, from the fifth on they take less, the eleventh by 5.7 bits.
//
// Source: Almeida, Baquero, Preguiça & Hutchison 2007, "Scalable Bloom Filters", IPL
// 101(6).
func WithTightening(r float64) Option {
	return func(c *config) { c.tightening, c.set.tightening = r, true }
}

// WithMaxLayers limits the number of layers, at least 1.
func WithMaxLayers(layers int) Option {
	return func(c *config) { c.maxLayers, c.set.maxLayers = layers, true }
}

// WithBloom passes options on to every layer: hash, seed or key, and strategy. The
// strategy must be one that works on a key's digest, which all are but those whose
// docs say that they need the key. [bloom.WithMaxBytes] limits the memory of all layers
// together.
func WithBloom(opts ...bloom.Option) Option {
	return func(c *config) { c.bloom = append(c.bloom, opts...) }
}

const maxGrowth = 1000

func newConfig(opts []Option) (config, error) {
	c := config{growth: 2}
	for i, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&c)
	}
	c.maxBytes = bloom.MaxBytes(c.bloom...)
	return c, c.validate()
}

func (c *config) validate() error {
	switch {
	case !(c.growth >= 1 && c.growth <= maxGrowth):
		return fmt.Errorf("%w: growth = %v, want 1 to %d", bloom.ErrInvalid, c.growth, maxGrowth)
	case c.set.tightening && !(c.tightening > 0 && c.tightening < 1):
		return fmt.Errorf("%w: tightening = %v, want 0 < r < 1", bloom.ErrInvalid, c.tightening)
	case c.set.maxLayers && c.maxLayers < 1:
		return fmt.Errorf("%w: at most %d layers, want at least 1", bloom.ErrInvalid, c.maxLayers)
	}
	return nil
}

// plan returns for how many keys layer i is, and at what rate.
func (c *config) plan(n uint64, p float64, i int) (keys uint64, rate float64, err error) {
	n = max(n, 1)
	x := math.Ceil(float64(n) * math.Pow(c.growth, float64(i)))
	if x >= 1<<63 {
		return 0, 0, fmt.Errorf("%w: layer %d would be for %.3g keys, want less than 2^63", bloom.ErrTooLarge, i, x)
	}
	if c.growth == 1 || i == 0 {
		keys = n // a float64 has not all of them
	} else {
		keys = uint64(x)
	}
	if c.tightening > 0 {
		return keys, p * (1 - c.tightening) * math.Pow(c.tightening, float64(i)), nil
	}
	return keys, p / (float64(i+1) * float64(i+2)), nil
}
