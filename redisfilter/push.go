package redisfilter

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// Push puts the contents of local filters, one for each shard, in place of what the
// filter in Redis holds. A filter of one shard takes one that bloom.New has made of
// the same arguments; for more, see [Local]. The expiry stays as it is in Redis.
//
// It is an upload beside the filter and then, for each shard, an exchange in one
// moment. Keys that others added meanwhile are lost, and so others are told: their
// next call returns [ErrLost]. To add to what is there, use [Filter.Merge]. After
// an error, some shards may have been exchanged.
//
// The error wraps bloom.ErrIncompatible, before anything is sent, if the filters
// are not as many as the shards or have another layout; [ErrLost] if the filter is
// gone or was made anew by another process, so that there is nothing to replace: call
// [Filter.Reopen] first; and [ErrMismatch] if something else is under its name. What is
// there instead is not changed, with one exception: if others add to it so often that it
// cannot be watched (each of 4 tries was disturbed), and it is exchanged in the last round
// trip, then it is replaced.
func (f *Filter) Push(ctx context.Context, local ...*bloom.BloomFilter) error {
	report, err := f.transfer(local)
	if err != nil {
		return err
	}
	for i, s := range f.shards {
		h := f.newHeader(time.Time{})
		err := f.viaUpload(ctx, s, s.life.Load(), local[i], report, func(pipe redis.Pipeliner, upload string, expires time.Time) {
			h.expires = expires
			pipe.SetRange(ctx, upload, 0, string(h.encode()))
			pipe.SetRange(ctx, upload, int64(f.layout.tail), string(h.tailOf()))
			pipe.Rename(ctx, upload, s.name)
			setExpiry(ctx, pipe, s.name, expires)
		})
		if err != nil {
			return err
		}
		s.life.Store(f.newLife(h))
	}
	f.log.InfoContext(ctx, "pushed", "filter", f.name)
	return nil
}

// Merge adds the contents of local filters, one for each shard, to the filter in
// Redis, as Union does in the process. Nothing that others add meanwhile is lost, and
// the expiry stays as it is in Redis. A shard is merged in one moment, in which the
// server answers no client: about 1 ms for each MiB. After an error, some shards may have
// been merged; to merge them again does no harm.
//
// The errors are those of [Filter.Push], and what is said there of a filter that is
// replaced holds here, too.
func (f *Filter) Merge(ctx context.Context, local ...*bloom.BloomFilter) error {
	report, err := f.transfer(local)
	if err != nil {
		return err
	}
	// Of the ticket, nothing must come into the filter's header. And were the key to
	// vanish before the BITOP, the result would be an orphan.
	for i, s := range f.shards {
		err := f.viaUpload(ctx, s, s.life.Load(), local[i], report, func(pipe redis.Pipeliner, upload string, expires time.Time) {
			pipe.SetRange(ctx, upload, 0, string(orphan))
			pipe.BitOpOr(ctx, s.name, s.name, upload)
			setExpiry(ctx, pipe, s.name, expires)
			pipe.Unlink(ctx, upload)
		})
		if err != nil {
			return err
		}
	}
	f.log.InfoContext(ctx, "merged", "filter", f.name)
	return nil
}
