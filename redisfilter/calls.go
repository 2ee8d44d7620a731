package redisfilter

import (
	"context"
	"slices"
	"sync"
)

// Add adds a key. It returns true if the key is definitely new and this call added it, false if the key was probably there
// already. Of any number of processes that add the same new key at the same time, at most one gets true: exactly one, unless
// the key is a false positive. With a window, a key is new again after it was forgotten.
//
// An add is sent at most once. If no answer comes, the key may or may not be in the filter: the error is an [AddError] that
// wraps [ErrUnknown]. The error wraps [ErrLost] if the filter is gone or lacks an add that was confirmed to this handle,
// [ErrFull] if there is no room, and [ErrSlot] if other handles have displaced this one. An Add is one round trip, none if
// the cache knows the key, and two for the first add of a handle. While some adds are under way, adds of other goroutines
// wait and go together in one command.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	return f.single(ctx, true, key)
}

// Contains returns false if the key was definitely never added, true if it probably was; with a window, added within the
// window or the rest of the generation before. The error wraps [ErrLost] if the filter is gone, or lacks an add that was
// confirmed to this handle. After an error, ignore the answer false. Contains never writes to the server.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	return f.single(ctx, false, key)
}

// AddMany adds keys as [Filter.Add] does one after the other, in one round trip for each 500. It returns the number of new
// keys. If added is not nil, added[i] becomes what Add of keys[i] would return. Of equal keys in one batch, the first is the
// new one. It panics if added is neither nil nor as long as keys.
//
// An error is an [AddError] that lists the keys without an answer. The other answers are valid and counted.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	var failed AddError
	var causes causes
	count, tried := f.rounds(ctx, true, keys, added, func(first int, b *batch) {
		causes.note(b.shard.name, b.err)
		causes.note(b.shard.name, b.warning)
		failed.Unknown = appendPlus(failed.Unknown, first, b.unknown)
		failed.Unconfirmed = appendPlus(failed.Unconfirmed, first, b.unconfirmed)
		failed.NotAdded = appendPlus(failed.NotAdded, first, b.indices[b.done:])
	})
	if failed.Err = causes.err(); failed.Err == nil {
		return count, nil
	}
	for i := tried; i < len(keys); i++ {
		failed.NotAdded = append(failed.NotAdded, i)
	}
	f.sender.Counts.Unknown.Add(uint64(len(failed.Unknown)))
	slices.Sort(failed.Unknown)
	slices.Sort(failed.Unconfirmed)
	slices.Sort(failed.NotAdded)
	return count, &failed
}

// appendPlus appends indices of a round whose first key has the index first.
func appendPlus(dst []int, first int, indices []int) []int {
	for _, i := range indices {
		dst = append(dst, first+i)
	}
	return dst
}

// ContainsMany looks up keys as [Filter.Contains] does, in one round trip for each 500. It returns how many were probably
// added. If found is not nil, found[i] becomes what Contains of keys[i] would return. It panics if found is neither nil nor
// as long as keys.
//
// After an error, true results are valid; false results are not.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	var causes causes
	count, _ = f.rounds(ctx, false, keys, found, func(_ int, b *batch) { causes.note(b.shard.name, b.err) })
	return count, causes.err()
}

// scratch is for the positions of single keys.
var scratch = sync.Pool{New: func() any { return new([]uint64) }}

// single is Add or Contains.
func (f *Filter) single(ctx context.Context, add bool, key []byte) (answer bool, err error) {
	room := scratch.Get().(*[]uint64)
	defer scratch.Put(room)
	*room = f.plan.scheme.AppendPositions((*room)[:0], key)
	i := shardOf(*room, len(f.shards))
	if f.shards[i].value.Load().knows(*room) {
		f.sender.Counts.CacheHits.Add(1)
		return !add, nil
	}
	g := &f.lookups[i]
	if add {
		g = &f.adds[i]
	}
	return g.do(ctx, key, *room)
}
