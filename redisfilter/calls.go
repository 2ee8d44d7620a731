package redisfilter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key. It returns true if the key is new, or if nobody can know because the reply was lost; then the error
// is an [AddError] that lists the key as unsure. It returns false if the key was probably there already, or if the key
// was not added; then there is an error, too. If several processes add the same new key at the same time, one gets true
// without an error, unless the key is a false positive or a reply was lost. With a window, a key is new again after it
// was forgotten.
//
// The answer may be acted on before the error is looked at. After an error, call again, or use [Filter.AddAll]. An Add
// takes one round trip, none if the cache has the key. At most four adds of a shard run at the same time; others wait
// and are sent together in one command.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	return f.single(ctx, f.adds, key)
}

// Contains returns false if the key was definitely never added, true if it probably was. With a window, a key is
// forgotten when the window has passed, at most one generation later. The error wraps [ErrLost] if the filter is gone
// or was replaced. After an error, ignore the answer false. Lookups never write to the server.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	return f.single(ctx, f.lookups, key)
}

// scratch has slices for the positions of single keys.
var scratch = sync.Pool{New: func() any { return new([]uint64) }}

// single is Add or Contains. groups are f.adds or f.lookups.
func (f *Filter) single(ctx context.Context, groups []group, key []byte) (answer bool, err error) {
	h := f.handle()
	room := scratch.Get().(*[]uint64)
	defer scratch.Put(room)
	*room = h.plan.scheme.AppendPositions((*room)[:0], key)
	g := &groups[shardOf(*room, len(h.shards))]
	if g.shard.value.Load().knows(*room) {
		h.sender.Counts.CacheHits.Add(1)
		return !g.add, nil
	}
	return g.do(ctx, key, *room)
}

// AddMany adds keys in order, as [Filter.Add] does, in one round trip for each 500 keys that are not in the cache. It
// returns how many were definitely new. If added is not nil, AddMany sets added[i] to the answer for keys[i]. Of equal
// keys in one batch, only the first can be new. It panics if added is neither nil nor as long as keys.
//
// An error is an [AddError]. The answers may be acted on before the error is looked at.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	count, fates, causes := f.handle().rounds(ctx, true, keys, added)
	return count, addError(fates, causes.err())
}

// ContainsMany looks up keys as [Filter.Contains] does, in one round trip for each 500 keys. It returns how many were
// probably added. If found is not nil, ContainsMany sets found[i] to the answer for keys[i]. It panics if found is
// neither nil nor as long as keys.
//
// After an error, true results are valid; false results are not.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	count, _, causes := f.handle().rounds(ctx, false, keys, found)
	return count, causes.err()
}

// AddAll adds keys as [Filter.AddMany] does, and calls again for those that were not added, because the server was
// down, loading or out of memory, during a failover, or while a cluster slot moved. It returns when each key has an
// answer or is refused for good, or when ctx ends.
//
// A key without a reply is added again, so that it is in the filter. Its answer stays true, and it is in
// AddError.Unsure, unless the second answer says that it was new. The error wraps [ErrLost] if keys were lost before or
// during the call, even if all keys have answers.
func (f *Filter) AddAll(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	h := f.handle()
	added = send.Answers(len(keys), added)
	fates, doubt := make([]fate, len(keys)), make([]bool, len(keys))
	var all, doubts, before causes // of the call, of keys without a reply, and of the last round
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
			all.add(causes)
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
			all.add(before) // causes may say only that ctx has ended
			all.add(causes)
		}
		break
	}
	if slices.Contains(doubt, true) {
		all.add(doubts)
	}
	for i, yes := range added {
		if doubt[i] {
			fates[i] = unsure
		}
		if yes {
			count++
		}
	}
	return count, addError(fates, all.err())
}
