package redisbloom

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// BloomFilter returns a copy of the only layer as a plain filter, in O(m). Its n and p are those
// of the layer. The error wraps bloom.ErrIncompatible if there are more layers.
func (f *Filter) BloomFilter() (*bloom.BloomFilter, error) {
	layers := f.all()
	if len(layers) != 1 {
		return nil, failure.Errorf(bloom.ErrIncompatible, "%d layers, want one for a plain filter", len(layers))
	}
	return layers[0].Clone(), nil
}

// FromBloomFilter returns a filter of one layer with the bits of f, in O(m). f is the result of
// [Filter.BloomFilter], or was made by
//
//	bloom.New(n, rate, bloom.WithStrategy(redisbloom.Strategy), bloom.WithHash(redisbloom.Hash))
//
// where rate is p/2 if the filter is going to grow, see [New]. expansion is as in [Plan]. f does not count
// its keys, so the number of items is an estimate from the bits: the next layer may begin some keys earlier
// or later than the server's would.
//
// The error wraps bloom.ErrNotPortable if f has another strategy or hash, or other m and k
// than RedisBloom has for its n and p, bloom.ErrInvalid or bloom.ErrTooLarge.
func FromBloomFilter(f *bloom.BloomFilter, expansion uint32) (*Filter, error) {
	if err := wire.Portable(f, required...); err != nil {
		return nil, err
	}
	is := f.Params()
	plan := Plan{is.N, is.P, expansion}
	if expansion != 0 {
		plan.P *= 2
	}
	made, err := New(plan)
	if err != nil {
		return nil, fmt.Errorf("%w, in a filter of RedisBloom for n = %d and p = %v", err, is.N, is.P)
	}
	only := made.all()[0]
	if err := only.Union(f); err != nil {
		return nil, failure.Errorf(bloom.ErrNotPortable, "it has m = %d and k = %d, and RedisBloom %d and %d for its n and p",
			is.M, is.K, only.Params().M, only.Params().K)
	}
	keys := min(f.Stats().EstimatedCount, is.N)
	layers := layered.Layers(nil).Append(only.BloomFilter, 0, keys, is.N-keys)
	made.layers.Store(&layers)
	return made, nil
}
