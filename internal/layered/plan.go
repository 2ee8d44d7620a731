package layered

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
)

// Rate returns the false-positive rate for layer i of a filter that grows: p/((i+1)(i+2)). The rates of any number of
// layers sum to less than p.
//
// Almeida, Baquero, Preguiça & Hutchison 2007, "Scalable Bloom Filters", IPL 101(6), advise a geometric series of
// rates. With this series, the first four layers take up to 0.8 bits per key more than with the ratio 0.5. Later layers
// take less, the eleventh 5.7 bits per key less.
func Rate(p float64, i int) float64 { return p / (float64(i+1) * float64(i+2)) }

// PromisedBits is the size of the largest layer, in bits, that CheckGrowth checks.
const PromisedBits = 1 << 40

// A Plan returns the number of keys and the rate of layer i.
type Plan func(i int) (keys uint64, rate float64, err error)

// CheckGrowth returns an error if the strategy or the hash does not support layers 0 to last of a filter for n keys at
// rate p. It tries only the last layer of at most PromisedBits: that layer has the lowest rate and the most keys.
func CheckGrowth(plan Plan, last int, n uint64, p float64, opts []bloom.Option) error {
	for i := last; i > 0; i-- {
		keys, rate, err := plan(i)
		if err != nil || float64(keys)*-math.Log2(rate) > PromisedBits {
			continue
		}
		if _, err := bloom.NewScheme(keys, rate, opts...); errors.Is(err, bloom.ErrInvalid) {
			return fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, i, n, p)
		}
		return nil
	}
	return nil
}

// Limit returns the largest number of bytes that all layers together may take.
func Limit(opts []bloom.Option) uint64 { return min(bloom.MaxBytes(opts...), memory.Limit()) }

// NewLayer returns the empty filter of a layer. The error wraps bloom.ErrTooLarge if it would take more than
// room bytes.
func NewLayer(keys uint64, rate float64, opts []bloom.Option, room uint64) (*bloom.BloomFilter, error) {
	s, err := bloom.NewScheme(keys, rate, opts...)
	if err != nil {
		return nil, err
	}
	if s.SizeBytes() > room {
		return nil, failure.Errorf(bloom.ErrTooLarge, "%d keys at rate %.3g take %d bytes, want at most %d", keys, rate, s.SizeBytes(), room)
	}
	return s.Filter()
}

// OptionsOf returns the options that make a scheme like s, except for a secret.
func OptionsOf(s *bloom.Scheme) []bloom.Option {
	opts := []bloom.Option{bloom.WithStrategy(s.Strategy()), bloom.WithHash(s.Hash())}
	if s.Seed() != 0 {
		opts = append(opts, bloom.WithSeed(s.Seed()))
	}
	return opts
}

// Left returns opts with the limit of [bloom.WithMaxBytes] lowered by used.
func Left(opts []bloom.Option, used uint64) []bloom.Option {
	return append(slices.Clip(opts), bloom.WithMaxBytes(bloom.MaxBytes(opts...)-used))
}
