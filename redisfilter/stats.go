package redisfilter

import (
	"context"
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Stats describes all shards together. N is the number of keys that the filter has room for: in all present layers, or
// with a window, in all generations that are remembered. SizeBytes is the length of the values in Redis. The other
// numbers describe the bits of these layers or generations.
//
// The server counts the bits in about 0.2 ms per MiB, with commands of about 1 ms each. Stats returns the errors of
// [Filter.Contains].
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	h := f.handle()
	stats := h.plan.stats()
	for _, s := range h.shards {
		var shard bloom.Stats
		var right float64 // probability of a right answer for an absent key
		err := h.steadily(ctx, s, func(b *batch) error {
			shard, right = bloom.Stats{SizeBytes: b.layers[len(b.layers)-1].end + epochBytes}, 1
			for i, l := range b.layers {
				if b.alive != nil && !b.alive[i] {
					continue
				}
				ones, err := h.sender.Ones(ctx, s.name, l.at, l.at+l.scheme.SizeBytes())
				if err != nil {
					return err
				}
				p := l.scheme.Params()
				n, rate := send.Estimate(l.scheme.Strategy(), p.M, p.K, ones)
				shard.EstimatedCount = sum(shard.EstimatedCount, n)
				right *= 1 - rate
				shard.N += l.keys
				shard.M += p.M
				shard.K = p.K
				shard.Ones += ones
			}
			return nil
		})
		if err != nil {
			return bloom.Stats{}, send.Explain(s.name, err)
		}
		stats.EstimatedCount = sum(stats.EstimatedCount, shard.EstimatedCount)
		stats.N += shard.N
		stats.M += shard.M
		stats.K = max(stats.K, shard.K)
		stats.Ones += shard.Ones
		stats.SizeBytes += shard.SizeBytes
		stats.EstimatedFalsePositiveRate += (1 - right) / float64(len(h.shards))
	}
	if h.plan.fixed() {
		stats.N = h.plan.n
	}
	return stats, nil
}

// stats returns the fields of Stats that the plan determines, without reading the filter in Redis.
func (f *plan) stats() bloom.Stats {
	s := f.scheme
	return bloom.Stats{Params: bloom.Params{P: f.p, K: s.Params().K}, Strategy: s.Strategy().Name(), Hash: s.Hash().Name()}
}

// sum returns a+b, at most math.MaxUint64, the estimate for a layer in which every bit is set.
func sum(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

// steadily calls the function do, which reads the value of a shard with several commands. Its argument has the layers
// that count. If a generation ends or a layer is added while do runs, steadily calls do again.
func (f *handle) steadily(ctx context.Context, s *shard, do func(*batch) error) error {
	const tries = 5
	for range tries {
		before := f.look(ctx, s)
		if before.err != nil {
			return before.err
		}
		if err := do(before); err != nil {
			return err
		}
		switch after := f.look(ctx, s); {
		case after.err != nil:
			return after.err
		case after.value != before.value:
			return send.Errorf(ErrLost, "the filter was lost or has expired meanwhile")
		case after.state == before.state:
			return nil
		}
	}
	return fmt.Errorf("it changed during each of %d attempts to read it", tries)
}

// look reads only the header of a shard. It returns a batch without keys that has the layers that count, or an error in
// err.
func (f *handle) look(ctx context.Context, s *shard) *batch {
	b := &batch{shard: s, k: f.plan.scheme.Params().K, again: true}
	for f.prepare(ctx, false, []*batch{b}); b.err == nil && b.again; {
		f.read(ctx, []*batch{b})
	}
	return b
}
