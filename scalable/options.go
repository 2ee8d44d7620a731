package scalable

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// An Option changes a default of [New].
type Option func(*config)

type config struct {
	growth    float64
	setGrowth bool
	maxBytes  uint64 // of all layers together
	bloom     []bloom.Option
}

// WithGrowth sets how many times as many keys each layer holds as the layer before, from 1 to
// 1000. The default is 2. A larger factor means fewer layers, faster lookups, and more memory
// that is not used yet.
func WithGrowth(factor float64) Option {
	return func(c *config) { c.growth, c.setGrowth = factor, true }
}

// WithBloom passes options to every layer: hash, seed or key, and strategy. The strategy must
// work on a key's digest. [bloom.WithMaxBytes] limits the memory of all layers together.
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
	if !(c.growth >= 1 && c.growth <= maxGrowth) {
		return fmt.Errorf("%w: growth = %v, want 1 to %d", bloom.ErrInvalid, c.growth, maxGrowth)
	}
	return nil
}

// plan returns the number of keys and the rate of layer i: n·growth^i keys at p/((i+1)(i+2)).
// The rates sum to p.
//
// Almeida, Baquero, Preguiça & Hutchison 2007, "Scalable Bloom Filters", IPL 101(6), advise a
// geometric series of rates. This one tightens more and more slowly: the first four layers take
// up to 0.8 bits per key more than with the ratio 0.5, from the fifth on they take less, the
// eleventh 5.7 bits less.
func (c *config) plan(n uint64, p float64, i int) (keys uint64, rate float64, err error) {
	keys = max(n, 1)
	rate = p / (float64(i+1) * float64(i+2))
	x := math.Ceil(float64(keys) * math.Pow(c.growth, float64(i)))
	if x >= 1<<63 {
		return 0, 0, fmt.Errorf("%w: layer %d would be for %.3g keys, want less than 2^63", bloom.ErrTooLarge, i, x)
	}
	if c.growth > 1 && i > 0 { // else keys is exact
		keys = uint64(x)
	}
	return keys, rate, nil
}
