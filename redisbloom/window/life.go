package window

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// A life is one incarnation of the key, from when it is made until it is lost.
type life struct {
	epoch string
	owner string      // of the slot
	lost  atomic.Bool // noticed: until Reopen, nothing more is sent

	claiming chan struct{}        // holds one while a goroutine takes a slot
	slot     atomic.Pointer[slot] // nil until the first add
	idle     chan *lane
}

// A slot is a counter in the value that belongs to one handle. The adds of the handle count
// it up. A count that is lower than one which a reply has shown tells that the value is older
// than what was confirmed.
type slot struct {
	at      uint64
	counted atomic.Uint64 // the highest count that was seen, as the bits of a float64
}

// A lane numbers the adds that are sent one after the other. The server keeps its last reply.
type lane struct {
	at     uint64
	number uint64
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

// Reopen goes on after [redisbloom.ErrLost], as [Open] would: it makes what is gone, empty, and
// joins what others have made anew, or what is left after the server has gone back to an older
// value. If nothing is lost, it does nothing. Goroutines that share the filter may all call it.
func (f *Filter) Reopen(ctx context.Context) error {
	head, err := f.head(ctx)
	if err == nil && head == "" {
		h := f.header
		h.epoch = newNonce()
		head, err = f.text(ctx, f.scripts.make, h.encode(), f.layout.end, strings.Repeat("\x00", 16)+h.epoch)
	}
	if err != nil {
		return err
	}
	return f.join(ctx, head)
}

// join begins the life of the key with this header.
func (f *Filter) join(ctx context.Context, head string) error {
	h, ok := decodeHeader([]byte(head))
	if !ok {
		return f.foreign()
	}
	if h.fingerprint != f.header.fingerprint || h.slots != f.layout.slots {
		return fmt.Errorf("%w: key %q was made for %v, opened for %v", redisbloom.ErrMismatch, f.key, h, f.header)
	}
	if l := f.life.Load(); l != nil && l.epoch == h.epoch && !l.lost.Load() {
		return nil
	}
	f.counts.RoundTrips.Add(1)
	end, err := f.sender.GetRange(ctx, f.key, f.layout.end, f.layout.length-1)
	if err != nil {
		return err
	}
	if end == "" {
		return fmt.Errorf("%w: key %q: made, and evicted or deleted at once", redisbloom.ErrLost, f.key)
	}
	if len(end) != endBytes || end[16:] != h.epoch {
		return fmt.Errorf("%w: key %q is cut short, or was made anew just now: delete it, or try again", redisbloom.ErrMismatch, f.key)
	}
	l := &life{epoch: h.epoch, owner: newNonce(), claiming: make(chan struct{}, 1), idle: make(chan *lane, lanes)}
	f.life.Store(l)
	return nil
}

// head reads the header of the value, or "" if there is none.
func (f *Filter) head(ctx context.Context) (string, error) {
	f.counts.RoundTrips.Add(1)
	return f.sender.GetRange(ctx, f.key, 0, headerBytes-1)
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
	v, err := f.run(ctx, f.scripts.claim, f.common(l, l.owner, f.layout.table, f.layout.slots)...)
	if err != nil {
		return nil, f.explain(l, err)
	}
	i, ok := v.(int64)
	if !ok || i < 0 || i >= int64(f.layout.slots) {
		return nil, fmt.Errorf("redisbloom/window: key %q: the script answered %v, want a slot below %d", f.key, v, f.layout.slots)
	}
	s := &slot{at: f.layout.table + uint64(i)*slotBytes}
	for i := range uint64(lanes) {
		l.idle <- &lane{at: s.at + laneAt + i*laneBytes}
	}
	l.slot.Store(s)
	return s, nil
}

// common returns the arguments of scripts that begin with scriptHead.
func (f *Filter) common(l *life, more ...any) []any {
	return append([]any{f.layout.end, f.layout.length - 1, l.epoch, f.header.millis}, more...)
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

// text is run for a script that answers with a string.
func (f *Filter) text(ctx context.Context, s script, args ...any) (string, error) {
	v, err := f.run(ctx, s, args...)
	if err != nil {
		return "", f.explain(nil, err)
	}
	text, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("redisbloom/window: key %q: the script answered %T, want a string", f.key, v)
	}
	return text, nil
}

// explain turns the refusals of scripts into the errors of package redisbloom, and adds to
// others what to do about them.
func (f *Filter) explain(l *life, err error) error {
	if !send.IsReply(err) || errors.Is(err, redis.Nil) {
		return send.Explain(f.key, err)
	}
	code, _, _ := strings.Cut(err.Error(), " ")
	why := ""
	switch code {
	case saysGone:
		why = "it is gone, cut short, or another one"
	case saysTaken:
		why = "its value is an older one, or another handle has taken this one's slot"
	case saysOlder:
		why = "its value is older than what was confirmed"
	case "NOPERM":
		return fmt.Errorf("redisbloom/window: key %q: the user's ACL must allow EVAL, EVALSHA, EXISTS, GETRANGE, SETRANGE, TIME and UNLINK on it: %w", f.key, err)
	default:
		return send.Explain(f.key, err)
	}
	if l != nil && !l.lost.Swap(true) {
		f.counts.Lost.Add(1)
	}
	return fmt.Errorf("%w: key %q: %s: Reopen goes on with what is there", redisbloom.ErrLost, f.key, why)
}

func (f *Filter) noticed() error {
	return fmt.Errorf("%w: key %q: it was noticed before: Reopen goes on with what is there", redisbloom.ErrLost, f.key)
}
