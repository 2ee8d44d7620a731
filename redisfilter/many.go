package redisfilter

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// AddMany adds keys in order, as [Filter.Add] does, in one round trip per 500 keys that are not in the cache, or up to
// 4000 if there are several shards. It returns how many have the answer true. If added is not nil, AddMany sets
// added[i] to the answer for keys[i]. Of equal keys in one batch, only the first can be new. It panics if added is
// neither nil nor as long as keys.
//
// If the server has not added keys, AddMany adds them again: the server was down, loading or out of memory, there was a
// failover, or a cluster slot moved. It returns when each key has an answer or is refused for good, or when ctx ends:
// give ctx a deadline. An error is an [AddError]. You may act on the answers before you look at the error.
//
// A key without a reply is added again, so that it is in the filter. Its answer stays true, and it is in
// AddError.Unsure, unless the second answer says that it was new. The error wraps [ErrLost] if keys were lost before or
// during the call, even if all keys have answers.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	h := f.handle()
	added = send.Answers(len(keys), added)
	fates, doubt := make([]fate, len(keys)), make([]bool, len(keys))
	var told, doubts, before causes // errors for the caller, of keys without a reply, of the previous attempt
	todo := make([]int, len(keys))
	for i := range todo {
		todo[i] = i
	}
	for pause := time.Millisecond; len(todo) > 0; pause = min(2*pause, time.Second) {
		rest, answers := make([][]byte, len(todo)), make([]bool, len(todo))
		for j, i := range todo {
			rest[j] = keys[i]
		}
		_, got, causes := h.rounds(ctx, true, rest, answers)
		var again []int
		for j, i := range todo {
			switch fates[i] = got[j]; got[j] {
			case unsure:
				doubt[i] = true
				fallthrough
			case notAdded:
				again = append(again, i)
			case answered:
				doubt[i] = doubt[i] && !answers[j] // true is right: the key was absent
			}
			added[i] = answers[j] || doubt[i]
		}
		if err := causes.err(); errors.Is(err, ErrLost) || errors.Is(err, send.ErrReplicas) || slices.Contains(got, refused) {
			told.add(causes)
		}
		if slices.Contains(got, unsure) {
			doubts.add(causes)
		}
		if todo = again; len(todo) == 0 {
			break
		}
		select {
		case <-time.After(pause):
			before = causes
			continue
		case <-ctx.Done():
			told.add(before) // causes may say only that ctx has ended
			told.add(causes)
		}
		break
	}
	if slices.Contains(doubt, true) {
		told.add(doubts)
	}
	for i, yes := range added {
		if doubt[i] {
			fates[i] = unsure
		}
		if yes {
			count++
		}
	}
	return count, h.addError(fates, told.err())
}

// ContainsMany looks up keys as [Filter.Contains] does, in one round trip per 500 keys, or up to 4000 if there are
// several shards. It returns how many were probably added. If found is not nil, ContainsMany sets found[i] to the
// answer for keys[i]. It panics if found is neither nil nor as long as keys.
//
// After an error, true results are valid; false results are not.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	count, _, causes := f.handle().rounds(ctx, false, keys, found)
	return count, causes.err()
}

// rounds adds or looks up keys in rounds of 500 keys, or of up to 4000 if there are several shards. It sends nothing
// more to a shard that has failed, unless the shard was lost: then it continues with the present value. rounds returns
// the number of true answers, and the fates and errors.
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
				b.settle(len(b.indices), refused)
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

// splitKeys is the largest number of keys that split handles, in some milliseconds, before rounds checks ctx again.
const splitKeys = 1 << 14

// split goes through the keys from keys[from] on. It answers keys in the cache, skips keys of shards that have failed,
// and puts up to size other keys into one batch per shard. end is the index after the last key that it has handled.
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
