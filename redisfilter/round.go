package redisfilter

import (
	"context"
	"errors"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// rounds does rounds of 500 keys, or with several shards of up to 4000, until all keys are done or a round has failed for
// another reason than a lost shard. It returns the number of true answers, and of keys that were tried.
func (f *Filter) rounds(ctx context.Context, add bool, keys [][]byte, answers []bool, done func(first int, b *batch)) (count, tried int) {
	answers = send.Answers(len(keys), answers)
	size := send.BatchKeys * min(len(f.shards), 8)
	for tried < len(keys) {
		first, last := tried, min(tried+size, len(keys))
		here := answers[first:last]
		batches := f.split(add, keys[first:last], here)
		f.round(ctx, add, batches, here)
		for _, yes := range here {
			if yes {
				count++
			}
		}
		tried = last
		stop := false
		for _, b := range batches {
			done(first, b)
			stop = stop || b.err != nil && !errors.Is(b.err, ErrLost) && !errors.Is(b.err, ErrSlot)
		}
		if stop {
			break
		}
	}
	return count, tried
}

// split asks the cache, and divides the other keys by shard.
func (f *Filter) split(add bool, keys [][]byte, answers []bool) (batches []*batch) {
	k := f.plan.scheme.Params().K
	byShard := make([]*batch, len(f.shards))
	positions := make([]uint64, 0, len(keys)*k)
	for i, key := range keys {
		before := len(positions)
		positions = f.plan.scheme.AppendPositions(positions, key)
		pos := positions[before:]
		n := shardOf(pos, len(f.shards))
		if f.shards[n].value.Load().knows(pos) {
			answers[i] = !add
			f.sender.Counts.CacheHits.Add(1)
			positions = positions[:before]
			continue
		}
		b := byShard[n]
		if b == nil {
			room := (len(keys) + len(f.shards) - 1) / len(f.shards)
			b = &batch{shard: f.shards[n], k: k, indices: make([]int, 0, room), keys: make([][]byte, 0, room)}
			byShard[n] = b
			batches = append(batches, b)
		}
		b.indices = append(b.indices, i)
		b.keys = append(b.keys, key)
		if len(f.shards) > 1 {
			b.positions = append(b.positions, pos...)
		} else {
			b.positions = positions
		}
	}
	return batches
}

// round adds or looks up the keys of some batches, each of another shard, at the same time.
func (f *Filter) round(ctx context.Context, add bool, batches []*batch, answers []bool) {
	f.prepare(ctx, add, batches)
	for {
		var todo []*batch
		for _, b := range batches {
			if b.err == nil && b.done < len(b.indices) {
				todo = append(todo, b)
			}
		}
		switch {
		case len(todo) == 0:
			return
		case add:
			f.add(ctx, todo, answers)
		default:
			f.read(ctx, todo, answers)
		}
	}
}
