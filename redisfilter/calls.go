package redisfilter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key. It returns true if the key is definitely new and this call added it, false if the key was probably
// there already. If several processes add the same new key at the same time, at most one gets true. Exactly one does,
// unless the key is a false positive or a call returns an error. With a window, a key is new again after it was
// forgotten.
//
// If no reply comes, Add sends the command again until ctx ends or ten seconds have passed; the server executes it
// once. If there is still no reply, the key may or may not be in the filter: the error is an [AddError] that wraps
// [ErrUnknown]. The error wraps [ErrLost] if the filter is gone or lacks an add that was confirmed to this handle, and
// [bloom.ErrFull] if there is no room. An Add takes one round trip, none if the cache has the key, and two for the
// first add to a shard. At most four adds of a shard run at the same time; others wait and are sent together in one
// command.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	return f.single(ctx, f.adds, key)
}

// Contains returns false if the key was definitely never added, true if it probably was. With a window, a key is
// forgotten when the window has passed, at most one generation later. The error wraps [ErrLost] if the filter is gone
// or lacks an add that was confirmed to this handle. After an error, ignore the answer false. A handle that has never
// added never writes to the server.
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
// An error is an [AddError] that lists the keys without an answer. The answers of all other keys are valid and counted.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	count, fates, causes := f.handle().rounds(ctx, true, keys, added, nil)
	return count, addError(fates, causes.err())
}

// ContainsMany looks up keys as [Filter.Contains] does, in one round trip for each 500 keys. It returns how many were
// probably added. If found is not nil, ContainsMany sets found[i] to the answer for keys[i]. It panics if found is
// neither nil nor as long as keys.
//
// After an error, true results are valid; false results are not.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	count, _, causes := f.handle().rounds(ctx, false, keys, found, nil)
	return count, causes.err()
}

// AddAll adds keys as [Filter.AddMany] does, and adds those again that were not added, because the server was down,
// loading or out of memory, during a failover, or while a cluster slot moved. After [ErrLost] it reopens the filter and
// continues. It returns when each key has an answer or a final error, or when ctx ends.
//
// A key without a reply is added again. If it is then in the filter, this call may have added it before: it is in
// AddError.Unknown and Present. Other keys are in AddError.Unknown or NotAdded only if ctx has ended. The error wraps
// [ErrLost] if keys were lost before or during the call, even if all keys have answers.
func (f *Filter) AddAll(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	h := f.handle()
	added = send.Answers(len(keys), added)
	fates, doubt := make([]fate, len(keys)), make([]bool, len(keys))
	var all, doubts, before causes // of the call, of keys without a reply, and of the last round
	var reopen error               // why lost shards cannot be reopened
	todo := make([]int, len(keys))
	for i := range todo {
		todo[i] = i
	}
	for pause := 10 * time.Millisecond; len(todo) > 0; pause = min(2*pause, time.Second) {
		rest, answers := make([][]byte, len(todo)), make([]bool, len(todo))
		for j, i := range todo {
			rest[j] = keys[i]
		}
		n, got, causes := h.rounds(ctx, true, rest, answers, reopen)
		count += n
		lost := errors.Is(causes.err(), ErrLost)
		tell, doubted := lost, false
		var again []int
		for j, i := range todo {
			added[i], fates[i] = answers[j], doubtful(got[j], doubt[i], answers[j])
			switch fates[i] {
			case notAdded:
				again = append(again, i)
			case unknown:
				if doubt[i] = true; got[j] != refused {
					again = append(again, i)
				}
				doubted = true
			case present, unconfirmed, refused:
				tell = true
			}
		}
		if tell {
			all.add(causes)
		}
		if doubted {
			doubts.add(causes)
		}
		if todo = again; len(todo) == 0 {
			break
		}
		if lost {
			if err := h.join(ctx, true); err != nil && send.Final(err) {
				reopen = err
			}
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
	if slices.Contains(fates, unknown) || slices.Contains(fates, present) {
		all.add(doubts)
	}
	return count, addError(fates, all.err())
}

// doubtful returns the fate of a key whose fate in the last round is f. added is its answer. If doubt is true, an
// earlier add of the key, whose reply was lost, may have added it.
func doubtful(f fate, doubt, added bool) fate {
	switch {
	case doubt && (f == notAdded || f == refused):
		return unknown
	case doubt && !added && (f == answered || f == unconfirmed):
		return present
	}
	return f
}
