package redisfilter

import (
	"context"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

// Stats returns the state of all shards together, for package prombloom among others. N is the number of keys that the
// filter is for: in all layers that it has now, or with a window, in all generations that are remembered, whose bits and
// estimates the other numbers are. SizeBytes is the length of the values in Redis.
//
// The server counts the bits, about 0.2 ms per MiB in commands of a millisecond. The error is that of [Filter.Contains].
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	s := f.plan.scheme
	stats := bloom.Stats{
		Params: bloom.Params{P: f.plan.p, K: s.Params().K}, Strategy: s.Strategy().Name(), Hash: s.Hash().Name(),
	}
	keys := 0.0
	for _, s := range f.shards {
		right := 1.0
		layers, ones, err := f.countBits(ctx, s)
		if err != nil {
			return bloom.Stats{}, err
		}
		for i, l := range layers {
			p := l.scheme.Params()
			n, rate := identity.Estimate(l.scheme.Strategy(), p.M, p.K, ones[i])
			keys += n
			right *= 1 - rate
			stats.N += l.keys
			stats.M += p.M
			stats.K = p.K
			stats.Ones += ones[i]
		}
		stats.EstimatedFalsePositiveRate += (1 - right) / float64(len(f.shards))
	}
	if f.plan.mode.fixed() {
		stats.N = f.plan.n
	}
	stats.SizeBytes = f.SizeBytes()
	stats.FillRatio = float64(stats.Ones) / float64(max(1, stats.M))
	stats.EstimatedCount = identity.Whole(keys)
	return stats, nil
}

// countBits counts the bits of those layers of a shard that count.
func (f *Filter) countBits(ctx context.Context, s *shard) (layers []layer, ones []uint64, err error) {
	const tries = 5
	for range tries {
		before, err := f.look(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		layers, ones = layers[:0], ones[:0]
		for i, l := range before.layers {
			if before.alive != nil && !before.alive[i] {
				continue
			}
			n, err := f.sender.Ones(ctx, s.name, l.at, l.at+l.scheme.SizeBytes())
			if err != nil {
				return nil, nil, err
			}
			layers, ones = append(layers, l), append(ones, n)
		}
		after, err := f.look(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		if after.value != before.value {
			return nil, nil, f.onLost(s, nil, "the filter was reopened")
		}
		if after.state == before.state { // otherwise a generation has ended
			return layers, ones, nil
		}
	}
	return nil, nil, fmt.Errorf("redisfilter: key %q: changed during each of %d counts", s.name, tries)
}

// A view is what a lookup of no keys has seen of a shard.
type view struct {
	value  *incarnation
	state  uint64
	layers []layer
	alive  []bool
}

// look looks up no keys.
func (f *Filter) look(ctx context.Context, s *shard) (view, error) {
	b := &batch{shard: s, k: f.plan.scheme.Params().K}
	if f.prepare(ctx, false, []*batch{b}); b.err != nil {
		return view{}, b.err
	}
	for {
		layers, err := f.plan.mode.reading(b.state)
		if err != nil {
			return view{}, err
		}
		r := f.newReading(ctx, b, layers)
		f.sender.Send(ctx, r.call)
		again := f.answered(ctx, r, nil)
		if b.err != nil {
			return view{}, b.err
		}
		if !again {
			return view{b.value, b.value.state.Load(), layers, r.alive}, nil
		}
	}
}
