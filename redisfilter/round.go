package redisfilter

import (
	"context"
	"errors"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// rounds adds or looks up keys in rounds of 500 keys, or of up to 4000 if there are several shards. It sends nothing
// more to a shard that has failed, but continues with the others, and with the present value of a lost shard. rounds
// returns the number of true answers, and the fates and errors.
func (f *handle) rounds(ctx context.Context, add bool, keys [][]byte, answers []bool) (count int, fates []fate, causes causes) {
	answers, fates = send.Answers(len(keys), answers), make([]fate, len(keys))
	size := send.BatchKeys * min(len(f.shards), 8)
	failed, full := make([]error, len(f.shards)), make([]error, len(f.shards))
	for from := 0; from < len(keys); {
		if err := ctx.Err(); err != nil {
			if !errors.Is(causes.err(), err) {
				causes.note(f.shards[0].name, err)
			}
			break
		}
		var batches []*batch
		batches, from = f.split(add, keys, from, size, answers, fates, failed)
		f.round(ctx, add, batches)
		for _, b := range batches {
			causes.note(b.shard.name, b.err)
			causes.note(b.shard.name, b.warning)
			if b.full != nil {
				full[b.index] = b.full
			}
			if b.err != nil && !errors.Is(b.err, ErrLost) {
				failed[b.index] = b.err
			}
			if b.err != nil && send.Final(b.err) {
				b.settle(f, len(b.indices), refused)
			}
		}
	}
	for i, err := range full {
		causes.note(f.shards[i].name, err)
	}
	for _, yes := range answers {
		if yes {
			count++
		}
	}
	return count, fates, causes
}

// splitKeys is the largest number of keys that split handles before rounds checks ctx, in some milliseconds.
const splitKeys = 1 << 14

// split answers keys that are in the cache, from keys[from] on, and divides the others by shard, at most size keys. It
// returns the index after the last key.
func (f *handle) split(add bool, keys [][]byte, from, size int, answers []bool, fates []fate, failed []error) (batches []*batch, end int) {
	k, most := f.plan.scheme.Params().K, min(size, len(keys)-from)
	byShard := make([]*batch, len(f.shards))
	positions := make([]uint64, 0, (most+1)*k)
	for end = from; end < min(len(keys), from+splitKeys) && len(positions) < most*k; end++ {
		i, before := end, len(positions)
		positions = f.plan.scheme.AppendPositions(positions, keys[i])
		pos := positions[before:]
		n := shardOf(pos, len(f.shards))
		if f.shards[n].value.Load().knows(pos) {
			answers[i], fates[i] = !add, answered
			f.sender.Counts.CacheHits.Add(1)
			positions = positions[:before]
			continue
		}
		if failed[n] != nil {
			if send.Final(failed[n]) {
				fates[i] = refused
			}
			positions = positions[:before]
			continue
		}
		b := byShard[n]
		if b == nil {
			room := (most + len(f.shards) - 1) / len(f.shards)
			b = &batch{shard: f.shards[n], index: n, k: k, answers: answers, fates: fates}
			b.indices, b.keys = make([]int, 0, room), make([][]byte, 0, room)
			byShard[n] = b
			batches = append(batches, b)
		}
		b.indices = append(b.indices, i)
		b.keys = append(b.keys, keys[i])
		if len(f.shards) > 1 {
			b.positions = append(b.positions, pos...)
		} else {
			b.positions = positions
		}
	}
	return batches, end
}

// round adds or looks up the keys of batches of different shards at the same time.
func (f *handle) round(ctx context.Context, add bool, batches []*batch) {
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
			f.add(ctx, todo)
		default:
			f.read(ctx, todo)
		}
	}
}
