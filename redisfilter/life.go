package redisfilter

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A life is one incarnation of a shard's key, from when it is made until it is
// lost. An add that began in one life does not write to the front of the next.
type life struct {
	header
	front front
	slot  atomic.Pointer[slot] // nil until the first add
	lost  atomic.Bool          // noticed: until Reopen, nothing more is sent
}

// knows reports whether the front contains a key and is still to be believed.
func (l *life) knows(positions []uint64) bool {
	return l.front.containsAll(positions) && !l.lost.Load() && (l.expires.IsZero() || time.Now().Before(l.expires))
}

// Reopen goes on after [ErrLost], as [Open] would: it makes what is gone, empty, and
// joins what others have made anew, or what is left after the server has gone back to an
// older value. Shards that are not lost stay as they are. If nothing is lost, it does
// nothing. Goroutines that share the filter may all call it.
func (f *Filter) Reopen(ctx context.Context) error {
	f.log.InfoContext(ctx, "reopening", "filter", f.name)
	return f.join(ctx, true)
}

// join makes or joins every shard. It looks at all of them before it makes one: if
// anything else is there, nothing is made. A shard that is made anew expires when the
// others do, or never, whatever the options of this process. Unless mayMake is set,
// nothing is made, and a shard that is missing or cut short is ErrLost.
func (f *Filter) join(ctx context.Context, mayMake bool) error {
	found := make([]*header, len(f.shards))
	var like *header
	for i, s := range f.shards {
		seen, err := f.look(ctx, s.name, nil)
		if err != nil {
			return err
		}
		if len(seen.head) == 0 || isOrphan(seen.head) {
			continue
		}
		h, err := f.check(s.name, seen.head)
		if err != nil {
			return err
		}
		if like == nil {
			like = &h
		}
		if seen.epoch == h.epoch {
			found[i] = &h
		}
	}
	if i := slices.Index(found, nil); i >= 0 && !mayMake {
		return fmt.Errorf("%w: key %q: it is missing or cut short: Open makes it anew", ErrLost, f.shards[i].name)
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

// joinShard returns the header of a key, after making the key if it is not there: with
// the expiry of like, unless that is nil or has passed.
func (f *Filter) joinShard(ctx context.Context, key string, like *header) (h header, made bool, err error) {
	var mine int64
	for range send.JoinTries {
		seen, err := f.look(ctx, key, nil)
		if err != nil {
			return header{}, false, err
		}
		ruin := isOrphan(seen.head)
		if len(seen.head) > 0 && !ruin {
			h, err := f.check(key, seen.head)
			if err != nil || h.epoch == seen.epoch {
				return h, mine != 0 && h.epoch == mine, err
			}
			f.log.WarnContext(ctx, "cut short", "filter", f.name, "key", key)
			ruin = true
		}
		if ruin {
			if err := f.overRuin(ctx, key); err != nil {
				return header{}, false, err
			}
			continue
		}
		expires, err := f.expiryOfNew(ctx, like)
		if err != nil {
			return header{}, false, err
		}
		h := f.newHeader(expires)
		mine = h.epoch
		if err := f.make(ctx, key, h); err != nil {
			return header{}, false, err
		}
	}
	left, err := f.sender.Do(ctx, "PTTL", key)
	if err != nil {
		return header{}, false, send.Explain(key, err)
	}
	if left != int64(-2) { // what a missing key has
		return header{}, false, fmt.Errorf("%w: key %q holds an empty string, or is made and deleted all the time", ErrMismatch, key)
	}
	return header{}, false, fmt.Errorf("%w: key %q: made %d times, and each time evicted or deleted at once: give the server more memory", ErrLost, key, send.JoinTries)
}

// expiryOfNew returns when a key expires that is made now.
func (f *Filter) expiryOfNew(ctx context.Context, like *header) (time.Time, error) {
	if like != nil && like.expires.IsZero() || like == nil && f.opts.ttl == 0 {
		return time.Time{}, nil
	}
	now, err := f.serverTime(ctx)
	switch {
	case err != nil:
		return time.Time{}, send.Explain(f.key, err)
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
		return h, errForeign(key)
	}
	want := f.newHeader(time.Time{})
	switch {
	case h.m != want.m || h.k != want.k || h.shards != want.shards || h.slots != want.slots:
		return h, fmt.Errorf("%w: key %q was made for n = %d, p = %v (%d shards of m = %d bits, k = %d, %s), opened for n = %d, p = %v (%d shards of m = %d bits, k = %d, %s)",
			ErrMismatch, key, h.n, h.p, h.shards, h.m, h.k, h.text, f.params.N, f.params.P, want.shards, want.m, want.k, want.text)
	case h.fingerprint != want.fingerprint:
		return h, fmt.Errorf("%w: key %q was made with another strategy, hash, seed or secret key: %s, want %s", ErrMismatch, key, h.text, want.text)
	}
	return h, nil
}

func errForeign(key string) error {
	return fmt.Errorf("%w: key %q holds something that is no filter of this package: choose another name, or delete the key", ErrMismatch, key)
}

func (f *Filter) newHeader(expires time.Time) header {
	return header{
		shards: len(f.shards), k: f.k, epoch: newNonce(), fingerprint: fingerprintOf(f.scheme, len(f.shards)),
		n: f.params.N, p: f.params.P, m: f.m, expires: expires, slots: f.layout.slots, text: identity.Text(f.scheme, headerBytes-textAt),
	}
}

func (f *Filter) serverTime(ctx context.Context) (time.Time, error) {
	cmd := redis.NewTimeCmd(ctx, "TIME")
	if err := f.ask(ctx, []*send.Command{{Cmd: cmd}}); err != nil {
		return time.Time{}, err
	}
	return cmd.Result()
}

// make makes a key that is not there, whole and with its expiry, in one transaction. If
// somebody else is faster, it does nothing.
//
// It is made beside and renamed, because there is no command that makes a long value only
// where there is none: with any two commands in the place itself, a process that ends
// between them would leave a part of a filter.
func (f *Filter) make(ctx context.Context, key string, h header) error {
	beside := newUpload(key).key
	set := []any{"SET", beside, h.encode()}
	if !h.expires.IsZero() {
		set = append(set, "PXAT", unixMilli(h.expires))
	}
	var err error
	stopped := f.sender.Await(ctx, func() {
		var cmds []redis.Cmder
		cmds, err = f.sender.Client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Process(ctx, send.Once{Cmd: redis.NewCmd(ctx, set...)})
			pipe.Do(ctx, "SETRANGE", beside, f.layout.tail, h.tailOf())
			pipe.Do(ctx, "RENAMENX", beside, key)
			pipe.Do(ctx, "UNLINK", beside)
			return nil
		})
		err = send.Cause(cmds, err)
	})
	f.counts.RoundTrips.Add(1)
	if stopped != nil {
		return send.Explain(key, stopped)
	}
	return send.Explain(key, err)
}
