package redisbloom

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// BloomFilter returns a copy of the only layer, in O(m), with the n and p of the layer. The error wraps
// bloom.ErrIncompatible if there are more layers.
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
// where rate is p if expansion is 0, and p/2 otherwise, see [New]. For expansion, see [Plan]. f does not count its
// keys, so the number of keys is estimated from the bits: the next layer may begin a few keys earlier or later than in
// the server.
//
// The error wraps bloom.ErrNotPortable if f has another strategy or hash, or another m or k than RedisBloom chooses for
// its n and p. It wraps the errors of [New] if f has no n and p or there is too little memory.
func FromBloomFilter(f *bloom.BloomFilter, expansion uint32) (*Filter, error) {
	if err := foreign.Portable(f, required...); err != nil {
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
