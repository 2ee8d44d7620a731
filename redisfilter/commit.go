package redisfilter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// An add writes to the filter's key, and a transaction that watches the key then ends
// without effect. On a key that many processes add to all the time it might never
// succeed. So after some tries the key is only looked at, and not
// watched.
const (
	watchedTries   = 4
	unwatchedTries = 4
)

// A view is what a transaction has found just before it begins.
type view struct {
	ticket  []byte // the first bytes of the upload
	head    []byte // those of the shard's key
	gone    bool   // the shard's key, although it may have had a head
	expires time.Time
}

// commit executes commands on a shard's key in one moment, if it still is the key of
// this life and u is whole. expires is when the key expires as it is now: somebody
// may have changed that. Nothing is done otherwise; the error wraps ErrLost or
// ErrMismatch if it is because of the shard's key.
//
// What is left open: if others add to the key so often that all of watchedTries
// failed, and it is replaced by somebody else in the one round trip between the
// look and the transaction, then the commands work on what replaced it. The error
// wraps ErrLost or ErrMismatch then, too.
func (f *Filter) commit(ctx context.Context, s *shard, l *life, u upload, commands func(pipe redis.Pipeliner, expires time.Time)) error {
	if err := f.alive(ctx, s, l); errors.Is(err, ErrLost) {
		if other, err := f.look(ctx, s.name, nil); err == nil && len(other.head) > 0 && !isOrphan(other.head) {
			if _, err := f.check(s.name, other.head); err != nil {
				return err
			}
		}
		return err
	} else if err != nil {
		return err
	}
	for try := range watchedTries + unwatchedTries {
		watched := []string{u.key}
		if try < watchedTries {
			watched = append(watched, s.name)
		}
		last, err := f.try(ctx, watched, s, l, u, commands)
		switch {
		case errors.Is(err, redis.TxFailedErr):
			continue
		case err != nil:
			return send.Explain(s.name, err)
		}
		if err := f.mine(ctx, s, l, last); err != nil {
			return err
		}
		if !bytes.Equal(last.ticket, u.ticket) {
			return fmt.Errorf("redisfilter: key %q: the upload was evicted, expired or deleted before it was whole, and nothing was changed: give the server more memory, or the maxmemory-policy noeviction, and try again", u.key)
		}
		return nil
	}
	return fmt.Errorf("redisfilter: key %q: changed by others in each of %d tries, and nothing was done: %w", u.key, watchedTries+unwatchedTries, redis.TxFailedErr)
}

// try looks and, if all is well, executes the commands. It returns what it has seen
// last: by the commands' own transaction, if that was executed.
func (f *Filter) try(ctx context.Context, watched []string, s *shard, l *life, u upload, commands func(redis.Pipeliner, time.Time)) (last view, err error) {
	var seen view // not to be read after Watch has been abandoned
	var unanswered error
	err = f.sender.Watch(ctx, func(tx *redis.Tx) error {
		var err error
		if seen, err = look(ctx, tx, s.name, u.key); err != nil {
			return err
		}
		h, err := f.check(s.name, seen.head)
		if err != nil || h.epoch != l.epoch || seen.gone || !bytes.Equal(seen.ticket, u.ticket) {
			return nil // commit says why
		}
		head := redis.NewCmd(ctx, "GETRANGE", s.name, 0, headerBytes-1)
		cmds, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Process(ctx, send.Once{Cmd: head}) // none is repeated: a RENAME would find its work done
			commands(pipe, seen.expires)
			return nil
		})
		if err != nil && !send.IsReply(err) {
			unanswered = err // a cluster client would begin anew
			return nil
		}
		if err != nil {
			return send.Cause(cmds, err)
		}
		text, err := head.Text()
		seen.head = []byte(text)
		return err
	}, watched...)
	if err != nil {
		return view{}, err
	}
	return seen, unanswered
}

// look reads the beginnings of a shard's key and of an upload, and when the key
// expires. Not every server tells the moment, but all tell how long it is to
// there; by the clock before and after, it is the one of the header unless somebody
// has changed it.
func look(ctx context.Context, tx *redis.Tx, key, upload string) (view, error) {
	pipe := tx.Pipeline()
	ticket := pipe.GetRange(ctx, upload, 0, headerBytes-1)
	head := pipe.GetRange(ctx, key, 0, headerBytes-1)
	before := pipe.Time(ctx)
	ttl := pipe.Do(ctx, "PTTL", key) // may be longer than a time.Duration
	after := pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return view{}, err
	}
	v := view{ticket: []byte(ticket.Val()), head: []byte(head.Val())}
	left, err := ttl.Int64()
	switch {
	case err != nil:
		return view{}, err
	case left == -1: // never
	case left <= 0: // a moment that has passed would delete whatever is there
		v.gone = true
	default:
		v.expires = time.UnixMilli(before.Val().UnixMilli() + left)
		h, _ := decodeHeader(v.head)
		if !h.expires.Before(v.expires) && !h.expires.After(time.UnixMilli(after.Val().UnixMilli()+left)) {
			v.expires = h.expires
		}
	}
	return v, nil
}

// mine returns an error if what was seen is not the key of this life.
func (f *Filter) mine(ctx context.Context, s *shard, l *life, seen view) error {
	if seen.gone || len(seen.head) == 0 || isOrphan(seen.head) {
		return f.gone(ctx, s, l)
	}
	h, err := f.check(s.name, seen.head)
	switch {
	case err != nil:
		l.lost.Store(true)
		return err
	case h.epoch != l.epoch:
		return f.onLost(ctx, s, l, "it was made anew by somebody else")
	}
	return nil
}

// setExpiry gives a key an expiry, or none: RENAME brings that of the upload along,
// and BITOP leaves none.
func setExpiry(ctx context.Context, pipe redis.Pipeliner, key string, expires time.Time) {
	if expires.IsZero() {
		pipe.Persist(ctx, key)
	} else {
		pipe.Do(ctx, "PEXPIREAT", key, unixMilli(expires)) // PExpireAt ends in the year 2262
	}
}
