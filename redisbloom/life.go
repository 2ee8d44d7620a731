package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// Reopen goes on after [ErrLost], as [Open] would: it makes what is gone, empty, and
// joins what others have made anew. Shards that are still there stay as they
// are. If nothing is lost, it does nothing. Goroutines that share the filter may
// all call it.
func (f *Filter) Reopen(ctx context.Context) error {
	f.log.InfoContext(ctx, "reopening", "filter", f.name)
	return f.join(ctx)
}

// join makes or joins every shard. It looks at all of them before it makes one: if
// anything else is there, nothing is made; and a shard made anew expires when those
// do that are still there, or never, whatever the options of whoever makes it.
func (f *Filter) join(ctx context.Context) error {
	found := make([]*header, len(f.shards))
	var like *header
	for i, s := range f.shards {
		value, err := f.sender.GetRange(ctx, s.name, 0, headerBytes-1)
		if err != nil {
			return err
		}
		if len(value) == 0 || isOrphan([]byte(value)) {
			continue
		}
		h, err := f.check(s.name, []byte(value))
		if err != nil {
			return err
		}
		found[i] = &h
		if like == nil {
			like = &h
		}
	}
	for i, s := range f.shards {
		h, made := found[i], false
		if h == nil {
			var anew header
			var err error
			if anew, made, err = f.joinShard(ctx, s.name, like); err != nil {
				return err
			}
			h = &anew
			if like == nil {
				like = h
			}
		}
		if l := s.life.Load(); l != nil && l.epoch == h.epoch && !l.lost.Load() {
			continue
		}
		s.life.Store(f.newLife(*h))
		f.log.InfoContext(ctx, "opened", "filter", f.name, "key", s.name, "made", made, "n", h.n, "p", h.p, "expires", h.expires)
	}
	return nil
}

func (f *Filter) newLife(h header) *life {
	l := &life{header: h}
	if f.params.M/8 <= f.opts.front {
		l.front = newFront(f.m) // of what h says, nothing but the epoch and the expiry is relied on
	}
	return l
}

// joinTries is how often making a key may be overtaken by somebody else.
const joinTries = 10

// joinShard returns the header of a key, after making the key if it is not there: with
// the expiry of like, unless that is nil or has passed.
func (f *Filter) joinShard(ctx context.Context, key string, like *header) (h header, made bool, err error) {
	var mine int64
	for range joinTries {
		value, err := f.sender.GetRange(ctx, key, 0, headerBytes-1)
		if err != nil {
			return header{}, false, err
		}
		if len(value) > 0 && !isOrphan([]byte(value)) {
			h, err := f.check(key, []byte(value))
			return h, mine != 0 && h.epoch == mine, err
		}
		expires, err := f.expiryOfNew(ctx, like)
		if err != nil {
			return header{}, false, err
		}
		h := f.newHeader(expires)
		mine = h.epoch
		if len(value) == 0 {
			err = f.make(ctx, key, h)
		} else {
			err = f.remake(ctx, key, h)
		}
		if err != nil {
			return header{}, false, err
		}
	}
	return header{}, false, fmt.Errorf("%w: key %q holds an empty string, or is made and deleted all the time", ErrMismatch, key)
}

// expiryOfNew returns when a key expires that is made now.
func (f *Filter) expiryOfNew(ctx context.Context, like *header) (time.Time, error) {
	if like != nil && like.expires.IsZero() || like == nil && f.opts.ttl == 0 {
		return time.Time{}, nil
	}
	now, err := f.serverTime(ctx)
	switch {
	case err != nil:
		return time.Time{}, err
	case like != nil && like.expires.After(now):
		return like.expires, nil
	case f.opts.ttl > 0:
		return now.Add(f.opts.ttl), nil
	}
	return time.Time{}, nil
}

// check decodes a header and compares it with what this filter expects.
func (f *Filter) check(key string, value []byte) (header, error) {
	h, ok := decodeHeader(value)
	if !ok {
		return h, fmt.Errorf("%w: key %q holds something that is no filter of this package: choose another name, or delete the key", ErrMismatch, key)
	}
	want := f.newHeader(time.Time{})
	switch {
	case h.m != want.m || h.k != want.k || h.shards != want.shards:
		return h, fmt.Errorf("%w: key %q was made for n = %d, p = %v (%d shards of m = %d bits, k = %d), opened for n = %d, p = %v (%d shards of m = %d bits, k = %d)",
			ErrMismatch, key, h.n, h.p, h.shards, h.m, h.k, f.params.N, f.params.P, want.shards, want.m, want.k)
	case h.fingerprint != want.fingerprint:
		return h, fmt.Errorf("%w: key %q was made with another strategy, hash, seed or secret key than %s", ErrMismatch, key, f.scheme.Strategy())
	}
	return h, nil
}

func (f *Filter) newHeader(expires time.Time) header {
	return header{
		shards: len(f.shards), k: f.k, epoch: newEpoch(), fingerprint: fingerprintOf(f.scheme, len(f.shards)),
		n: f.params.N, p: f.params.P, m: f.m, expires: expires,
	}
}

func (f *Filter) serverTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	var err error
	if stopped := f.sender.Await(ctx, func() { now, err = f.sender.Client.Time(ctx).Result() }); stopped != nil {
		return time.Time{}, send.Explain(f.name, stopped)
	}
	if err != nil {
		return time.Time{}, send.Explain(f.name, err)
	}
	return now, nil
}

// make makes a key that is not there: header and expiry at once, then the full
// length. If somebody else is faster, it does nothing.
func (f *Filter) make(ctx context.Context, key string, h header) error {
	args := []any{"SET", key, h.encode(), "NX"}
	if !h.expires.IsZero() {
		args = append(args, "PXAT", unixMilli(h.expires))
	}
	_, err := f.sender.DoOnce(ctx, args...)
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return send.Explain(key, err)
	}
	_, err = f.sender.Do(ctx, f.allocation(key)...)
	return send.Explain(key, err)
}

// allocation is a command that makes a key as long as it will be, and changes
// nothing: others may be adding already.
func (f *Filter) allocation(key string) []any {
	return []any{"BITFIELD", key, "SET", "u32", markBit, uint64(mark), "INCRBY", "u1", f.valueBytes()*8 - 1, 0}
}

// valueBytes is the length of a key's value.
func (f *Filter) valueBytes() uint64 { return headerBytes + f.scheme.SizeBytes() }

// remake puts an empty filter in the place of an orphan. If somebody else is
// faster, it does nothing.
func (f *Filter) remake(ctx context.Context, key string, h header) error {
	return f.overOrphan(ctx, key, func(pipe redis.Pipeliner) {
		args := []any{"SET", key, h.encode()}
		if !h.expires.IsZero() {
			args = append(args, "PXAT", unixMilli(h.expires))
		}
		pipe.Do(ctx, args...)
		pipe.Do(ctx, f.allocation(key)...)
	})
}

// overOrphan executes commands in a transaction if the key holds an orphan, and
// goes on holding it until then.
func (f *Filter) overOrphan(ctx context.Context, key string, commands func(redis.Pipeliner)) error {
	err := f.sender.Watch(ctx, func(tx *redis.Tx) error {
		value, err := tx.GetRange(ctx, key, 0, headerBytes-1).Bytes()
		if err != nil || !isOrphan(value) {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			commands(pipe)
			return nil
		})
		return err
	}, key)
	if errors.Is(err, redis.TxFailedErr) {
		return nil
	}
	return send.Explain(key, err)
}

// onLost is called by an answer of another epoch than that of the shard's life. It
// marks the life as lost, removes the orphan that the call may have left, and
// returns the error.
func (f *Filter) onLost(ctx context.Context, s *shard, l *life, epoch int64) error {
	if !l.lost.Swap(true) {
		f.log.WarnContext(ctx, "lost", "filter", f.name, "key", s.name)
	}
	if epoch != 0 {
		return lostError(s, "it was made anew by somebody else")
	}
	// If this fails, the next Open finds the orphan.
	f.overOrphan(ctx, s.name, func(pipe redis.Pipeliner) { pipe.Unlink(ctx, s.name) })
	return lostError(s, "it was evicted, expired, flushed, deleted, or lost in a restart")
}

func lostError(s *shard, how string) error {
	return fmt.Errorf("%w: key %q: %s; its keys are forgotten: Reopen goes on with an empty one", ErrLost, s.name, how)
}
