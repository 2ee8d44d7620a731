package redisfilter

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

// Stats returns the state of all shards together, for package prombloom among others. N is the number
// of keys that the filter is for, with the layers that it has now; SizeBytes is the length of the
// values in Redis. With a window, the bits and estimates are those of the generations that are
// remembered.
//
// The server counts the bits, about 0.2 ms per MiB in commands of a millisecond; a window is read in
// pieces of 1 MiB. The error is that of [Filter.Contains].
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	s := f.plan.scheme
	stats := bloom.Stats{N: f.plan.n, P: f.plan.p, K: s.Params().K, Strategy: s.Strategy().Name(), Hash: s.Hash().Name()}
	if f.plan.growth {
		stats.N = 0
	}
	count := 0.0
	for _, s := range f.shards {
		right := 1.0
		filters, err := f.filters(ctx, s)
		if err != nil {
			return bloom.Stats{}, err
		}
		for _, l := range filters {
			p := l.scheme.Params()
			if f.plan.growth {
				stats.N += l.keys
			}
			stats.M += p.M
			stats.K = p.K
			stats.Ones += l.ones
			n, rate := identity.Estimate(l.scheme.Strategy(), p.M, p.K, l.ones)
			count += n
			right *= 1 - rate
		}
		stats.EstimatedFalsePositiveRate += (1 - right) / float64(len(f.shards))
	}
	stats.SizeBytes = f.SizeBytes()
	stats.FillRatio = float64(stats.Ones) / float64(stats.M)
	stats.EstimatedCount = identity.Whole(count)
	return stats, nil
}

// A counted is a filter that is a part of a shard.
type counted struct {
	scheme bloom.Scheme
	keys   uint64
	ones   uint64
}

// filters counts the bits of a shard's layers or generations.
func (f *Filter) filters(ctx context.Context, s *shard) (all []counted, err error) {
	l, _, err := f.alive(ctx, s)
	if err != nil {
		return nil, err
	}
	if f.plan.generations > 0 {
		if all, err = f.countRecords(ctx, s); err != nil {
			return nil, err
		}
	} else {
		layers, err := f.plan.grown(int(l.layers.Load()), maxValue)
		if err != nil {
			return nil, err
		}
		for _, layer := range layers {
			ones, err := f.sender.Ones(ctx, s.name, layer.at, layer.at+layer.scheme.SizeBytes())
			if err != nil {
				return nil, err
			}
			all = append(all, counted{layer.scheme, layer.keys, ones})
		}
	}
	return all, f.same(ctx, s, l)
}

// same returns an error if a shard has not been in one life all the time: what was read may be of two values.
func (f *Filter) same(ctx context.Context, s *shard, l *life) error {
	again, _, err := f.alive(ctx, s)
	if err == nil && again != l {
		err = f.onLost(s, nil, "it was reopened")
	}
	return err
}

// alive looks up nothing, and returns the life of a shard that has answered; with a window, the
// generation, too.
func (f *Filter) alive(ctx context.Context, s *shard) (l *life, generation uint64, err error) {
	p := &part{shard: s, k: f.plan.scheme.Params().K}
	if f.prepare(ctx, false, []*part{p}); p.err != nil {
		return nil, 0, p.err
	}
	if f.plan.generations > 0 {
		r := f.askFor(s, p.life, []byte{}, 0)
		f.exec(ctx, r)
		generation, _, err = f.asked(r, p.life, 0)
		return p.life, generation, err
	}
	f.read(ctx, []*part{p}, nil)
	return p.life, 0, p.err
}

// countRecords counts the bits of the generations of a window.
func (f *Filter) countRecords(ctx context.Context, s *shard) ([]counted, error) {
	_, now, err := f.alive(ctx, s)
	if err != nil {
		return nil, err
	}
	places := uint64(f.plan.generations + 1)
	ones := make([]uint64, places)
	record := f.plan.layout.record
	step := max(1, (1<<20)/record) * record
	for from := f.plan.layout.body; from < f.plan.layout.table; from += step {
		piece, err := f.piece(ctx, s, from, min(from+step, f.plan.layout.table))
		if err != nil {
			return nil, err
		}
		for b := []byte(piece); len(b) > 0; b = b[record:] {
			stamp := wholeOf(math.Float64frombits(binary.LittleEndian.Uint64(b)))
			for age := range places {
				if g := now - age; age <= now && g <= stamp {
					place := b[8+g%places*blockBytes:][:blockBytes]
					for i := 0; i < blockBytes; i += 8 {
						ones[age] += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(place[i:])))
					}
				}
			}
		}
	}
	all := make([]counted, places)
	for i, n := range ones {
		all[i] = counted{scheme: f.plan.scheme, ones: n}
	}
	return all, nil
}

// piece reads bytes [from, to) of a shard's value.
func (f *Filter) piece(ctx context.Context, s *shard, from, to uint64) (string, error) {
	v, err := f.sender.Do(ctx, s.name, "GETRANGE", s.name, from, to-1)
	if err != nil {
		return "", f.explain(s, nil, err)
	}
	text, _ := v.(string)
	if uint64(len(text)) != to-from {
		return "", f.onLost(s, s.life.Load(), isGone)
	}
	return text, nil
}
