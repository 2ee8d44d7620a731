package growing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// A life is one incarnation of the key, from when it is made until it is lost.
type life struct {
	epoch   string
	expires time.Time     // zero for never
	owner   string        // of the slot
	layers  atomic.Uint64 // the most that were seen
	lost    atomic.Bool   // noticed: until Reopen, nothing more is sent

	claiming chan struct{}        // holds one while a goroutine takes a slot
	slot     atomic.Pointer[slot] // nil until the first add
}

// A slot is a counter in the value that belongs to one handle. The adds of the handle count
// it up. A count that is lower than one which a reply has shown tells that the value is older
// than what was confirmed.
type slot struct {
	at      uint64
	counted atomic.Uint64 // the highest count that was seen, as the bits of a float64
}

func (s *slot) least() float64 { return math.Float64frombits(s.counted.Load()) }

func (s *slot) see(count float64) {
	for {
		before := s.counted.Load()
		if math.Float64frombits(before) >= count || s.counted.CompareAndSwap(before, math.Float64bits(count)) {
			return
		}
	}
}

// see notes that there are so many layers.
func (l *life) see(layers uint64) {
	for {
		before := l.layers.Load()
		if before >= layers || l.layers.CompareAndSwap(before, layers) {
			return
		}
	}
}

// Reopen goes on after [redisbloom.ErrLost], as [Open] would: it makes what is gone, empty and with
// one layer, and joins what others have made anew, or what is left after the server has gone back
// to an older value. If nothing is lost, it does nothing. Goroutines that share the filter may all
// call it.
func (f *Filter) Reopen(ctx context.Context) error {
	for range send.JoinTries {
		head, err := f.sender.GetRange(ctx, f.key, 0, headerBytes-1)
		if err != nil {
			return err
		}
		if head == "" {
			if err := f.make(ctx); err != nil {
				return err
			}
			continue
		}
		h, ok := decodeHeader([]byte(head))
		if !ok {
			return f.foreign()
		}
		err = f.join(ctx, h)
		if !errors.Is(err, redisbloom.ErrLost) {
			return err
		}
		// It is cut short, or was made anew just now.
		if _, err := f.run(ctx, f.scripts.clear, h.epoch, f.endOf(h), f.endOf(h)+epochBytes-1); err != nil {
			return f.explain(nil, err)
		}
	}
	return fmt.Errorf("%w: key %q: made %d times, and each time evicted or deleted at once: give the server more memory", redisbloom.ErrLost, f.key, send.JoinTries)
}

// make makes the key if it is not there.
func (f *Filter) make(ctx context.Context) error {
	h := f.header
	h.epoch = newNonce()
	_, err := f.run(ctx, f.scripts.make, h.encode(), f.endOf(h), f.opts.ttl.Milliseconds())
	return f.explain(nil, err)
}

// endOf returns where the epoch at the end of a value begins, whose layers join has checked.
func (f *Filter) endOf(h header) uint64 { return (*f.planned.Load())[h.layers-1].end }

// join begins the life of the key with this header. The error wraps ErrMismatch if it is another
// filter, and ErrLost if the value does not end as it should.
func (f *Filter) join(ctx context.Context, h header) error {
	if h.fingerprint != f.header.fingerprint {
		return fmt.Errorf("%w: key %q was made for %v, opened for %v", redisbloom.ErrMismatch, f.key, h, f.header)
	}
	if h.layers < 1 || h.layers > maxLayers {
		return fmt.Errorf("%w: key %q: its number of layers is none that it can have", redisbloom.ErrMismatch, f.key)
	}
	layers, err := f.layers(int(h.layers), f.limit)
	if err != nil {
		return fmt.Errorf("key %q: %w", f.key, err)
	}
	if h.left > layers[h.layers-1].keys {
		return fmt.Errorf("%w: key %q: what its newest layer has room for is more than the %d keys that it is for", redisbloom.ErrMismatch, f.key, layers[h.layers-1].keys)
	}
	if l := f.life.Load(); l != nil && l.epoch == h.epoch && !l.lost.Load() {
		return nil
	}
	end, err := f.sender.GetRange(ctx, f.key, f.endOf(h), f.endOf(h)+epochBytes-1)
	if err != nil {
		return err
	}
	if end != h.epoch {
		return fmt.Errorf("%w: key %q is cut short, or was made anew just now: Open makes it anew", redisbloom.ErrLost, f.key)
	}
	l := &life{epoch: h.epoch, expires: h.expires, owner: newNonce(), claiming: make(chan struct{}, 1)}
	l.layers.Store(h.layers)
	f.life.Store(l)
	return nil
}

func (f *Filter) foreign() error {
	return fmt.Errorf("%w: key %q holds something that is no filter of this package: choose another name, or delete the key", redisbloom.ErrMismatch, f.key)
}

// Delete removes the filter from Redis, for everybody: the next call of others returns
// [redisbloom.ErrLost], and so does the next of this one. What has been put in its place by
// somebody else is left alone.
func (f *Filter) Delete(ctx context.Context) error {
	l := f.life.Load()
	if _, err := f.run(ctx, f.scripts.delete, l.epoch); err != nil {
		return f.explain(l, err)
	}
	l.lost.Store(true)
	return nil
}

// claim returns the slot of a life, after taking one if it has none.
func (f *Filter) claim(ctx context.Context, l *life) (*slot, error) {
	if s := l.slot.Load(); s != nil {
		return s, nil
	}
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
		return nil, send.Explain(f.key, ctx.Err())
	}
	if s := l.slot.Load(); s != nil {
		return s, nil
	}
	v, err := f.run(ctx, f.scripts.claim, l.epoch, l.owner)
	if err != nil {
		return nil, f.explain(l, err)
	}
	i, ok := v.(int64)
	if !ok || i < 0 || i >= slots {
		return nil, fmt.Errorf("redisbloom/growing: key %q: the script answered %v, want a slot below %d", f.key, v, slots)
	}
	s := &slot{at: slotsAt + uint64(i)*slotBytes}
	l.slot.Store(s)
	return s, nil
}

// run runs a script that may be sent twice.
func (f *Filter) run(ctx context.Context, s script, args ...any) (any, error) {
	f.counts.RoundTrips.Add(1)
	v, err := f.sender.Do(ctx, f.call("EVALSHA", s.sha, args)...)
	if isMissing(err) {
		f.counts.RoundTrips.Add(1)
		v, err = f.sender.Do(ctx, f.call("EVAL", s.source, args)...)
	}
	return v, err
}

func (f *Filter) call(verb, script string, args []any) []any {
	return append([]any{verb, script, 1, f.key}, args...)
}

// isMissing reports whether the server does not know the script, and wants its source.
func isMissing(err error) bool {
	return err != nil && send.IsReply(err) && strings.HasPrefix(err.Error(), "NOSCRIPT ")
}

// noPermission says what a user must be allowed.
const noPermission = "the user's ACL must allow BITCOUNT, BITFIELD_RO, EVAL, EVALSHA, EXISTS, GETRANGE, PEXPIREAT, SETRANGE, TIME and UNLINK on it"

// explain turns the refusals of scripts into the errors of package redisbloom, and adds to
// others what to do about them.
func (f *Filter) explain(l *life, err error) error {
	if err == nil || !send.IsReply(err) || errors.Is(err, redis.Nil) {
		return send.Explain(f.key, err)
	}
	code, _, _ := strings.Cut(err.Error(), " ")
	switch code {
	case saysGone:
		return f.onLost(l, "it is gone, cut short, or another one")
	case saysTaken:
		return f.onLost(l, "its value is an older one, or another handle has taken this one's slot")
	case saysOlder:
		return f.onLost(l, "its value is older than what was confirmed")
	case "NOPERM":
		return fmt.Errorf("redisbloom/growing: key %q: %s: %w", f.key, noPermission, err)
	}
	return send.Explain(f.key, err)
}

// onLost marks a life as lost and returns the error.
func (f *Filter) onLost(l *life, how string) error {
	if l != nil && !l.lost.Swap(true) {
		f.counts.Lost.Add(1)
	}
	return fmt.Errorf("%w: key %q: %s: Reopen goes on with what is there", redisbloom.ErrLost, f.key, how)
}

// alive returns an error if a loss was noticed before.
func (f *Filter) alive(l *life) error {
	if l.lost.Load() {
		return f.onLost(l, "it was noticed before")
	}
	return nil
}
