package redisfilter

import (
	"context"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key. It returns true if the key is new, false if it was probably there already. If the reply was lost, or
// too few replicas confirmed a new key to [WithWait], Add returns true, and the error is an [AddError] that lists the
// key as unsure. If the key was not added, Add returns false and an error. If several processes add the same new key at
// the same time, one gets true without an error, unless the key is a false positive or a reply was lost. With a window,
// a key is new again after it was forgotten.
//
// You may act on the answer before you look at the error. After an error, call again. An Add takes one round trip, none
// if the cache has the key. If the connection breaks before the reply, Add sends the key again, at most twice. At most
// four adds of a shard run at the same time; others wait and are sent together in one command.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	h := f.handle()
	added, got, err := f.single(ctx, f.adds, key)
	for try := 1; try <= sendAgain && got == unsure && send.Broken(err) && ctx.Err() == nil; try++ {
		isNew, then, failed := f.single(ctx, f.adds, key)
		switch {
		case then == unsure:
			err = failed
		case isNew: // so the key was absent: true is right, whatever became of the first command
			return true, h.addError([]fate{then}, failed)
		case then == answered:
			return true, h.addError([]fate{unsure}, err)
		}
	}
	return added, h.addError([]fate{got}, err)
}

// sendAgain is how often Add sends a key again. Servers and proxies close connections that are idle, and with TLS
// go-redis notices that only when it uses them. The connection of the second attempt may have been closed, too.
const sendAgain = 2

// Contains returns false if the key was definitely never added, true if it probably was. With a window, a key is
// forgotten when the window has passed, at most one generation later. The error wraps [ErrLost] if the filter is gone
// or was replaced. After an error, ignore the answer false. Lookups never write to the server.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	found, _, err = f.single(ctx, f.lookups, key)
	return found, err
}

// scratch has slices for the positions of single keys.
var scratch = sync.Pool{New: func() any { return new([]uint64) }}

// single adds or looks up a key. queues are f.adds or f.lookups.
func (f *Filter) single(ctx context.Context, queues []queue, key []byte) (answer bool, fate fate, err error) {
	h := f.handle()
	room := scratch.Get().(*[]uint64)
	defer scratch.Put(room)
	*room = h.plan.scheme.AppendPositions((*room)[:0], key)
	q := &queues[shardOf(*room, len(h.shards))]
	if q.shard.value.Load().knows(*room) {
		h.sender.Counts.CacheHits.Add(1)
		return !q.add, answered, nil
	}
	answer, fate, err = q.do(ctx, key, *room)
	return answer, fate, send.Explain(q.shard.name, err)
}
