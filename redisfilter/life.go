package redisfilter

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A life is one incarnation of a shard's value, from when it is made until it is lost. An add that
// began in one life does not teach the front of the next.
type life struct {
	epoch   string
	owner   string // of the slot, chosen before it is taken: a claim whose reply is lost is found again
	ttl     time.Duration
	expires time.Time // zero for never
	front   front

	layers   atomic.Uint64        // the most that were seen
	lost     atomic.Bool          // noticed: until Reopen, nothing is sent
	claiming chan struct{}        // holds one while a goroutine takes a slot
	slot     atomic.Pointer[slot] // nil until the first add
}

// A slot is a counter in the value that belongs to one handle. The adds of the handle count it up. A
// lower count than one that a reply has shown means that the value is older than what was
// confirmed. One counter for all handles would not do: after a rollback, the adds of others would soon
// raise it past what was seen.
type slot struct {
	at      uint64        // in the value
	counted atomic.Uint64 // the highest count seen, as the bits of a float64
	touched atomic.Int64  // when the slot's time was renewed, in nanoseconds
}

// renewAfter is the age at which the next add renews the time of a slot.
const renewAfter = 10 * time.Second

// least returns what the count must be at least.
func (s *slot) least() float64 { return math.Float64frombits(s.counted.Load()) }

// MarshalBinary writes the least count when the client writes the command: an add that has waited for a
// connection carries what replies have shown since.
func (s *slot) MarshalBinary() ([]byte, error) {
	return strconv.AppendFloat(nil, s.least(), 'f', -1, 64), nil
}

// see notes a count from a reply.
func (s *slot) see(count float64) { raise(&s.counted, math.Float64bits(count)) } // positive doubles are ordered as their bits

// raise sets a number to value if it is less.
func raise(number *atomic.Uint64, value uint64) {
	for {
		before := number.Load()
		if before >= value || number.CompareAndSwap(before, value) {
			return
		}
	}
}

// touch reports whether an add is to renew the slot's time. One of several goroutines is told so.
func (s *slot) touch() bool {
	now, before := time.Now().UnixNano(), s.touched.Load()
	return now-before >= int64(renewAfter) && s.touched.CompareAndSwap(before, now)
}

// knows reports whether the front contains a key and is still valid.
func (l *life) knows(positions []uint64) bool {
	return l.front.contains(positions) && !l.lost.Load() && (l.expires.IsZero() || time.Now().Before(l.expires))
}

func (f *Filter) newLife(h header) *life {
	l := &life{
		epoch: h.epoch, owner: newNonce(), ttl: time.Duration(h.ttl) * time.Millisecond, expires: h.expires,
		claiming: make(chan struct{}, 1),
	}
	l.layers.Store(h.layers)
	m := f.plan.scheme.Params().M
	if !f.plan.growth && f.plan.generations == 0 && m/8*uint64(f.plan.shards) <= f.opts.front {
		l.front = newFront(m)
	}
	return l
}

// Reopen continues after [ErrLost] as [Open] would: it makes what is gone, empty, and joins what
// others have made anew or what is left after the server has gone back to an older value. Shards
// that are not lost stay as they are. If nothing is lost, Reopen does nothing. Goroutines that share
// the filter may all call it.
func (f *Filter) Reopen(ctx context.Context) error { return f.join(ctx, true) }

// lookAtOnce is the number of shards that one pipeline looks at.
const lookAtOnce = 64

// join makes or joins every shard. It looks at all of them before it makes one: if anything else is
// there, nothing is made. Unless mayMake is set, nothing is made.
func (f *Filter) join(ctx context.Context, mayMake bool) error {
	if f.closed.Load() {
		return errClosed
	}
	ttl, like := f.opts.ttl, time.Time{}
	if l := f.shards[0].life.Load(); l != nil {
		ttl = l.ttl
	}
	const tries = 10
	missing := f.shards
	for try := 0; len(missing) > 0; try++ {
		if try > tries {
			return fmt.Errorf("%w: key %q: made %d times, and each time evicted or deleted at once: give the server more memory", ErrLost, missing[0].name, tries)
		}
		var again []*shard
		for first := 0; first < len(missing); first += lookAtOnce {
			shards := missing[first:min(first+lookAtOnce, len(missing))]
			for i, r := range f.open(ctx, try > 0, shards, ttl, like) {
				state, h, err := f.opened(shards[i], r)
				if err != nil {
					return err
				}
				if state != 'w' {
					again = append(again, shards[i])
					continue
				}
				ttl = time.Duration(h.ttl) * time.Millisecond
				if h.expires.After(like) {
					like = h.expires
				}
				f.begin(shards[i], h)
			}
			if len(again) > 0 && !mayMake {
				return fmt.Errorf("%w: key %q: it is missing or cut short: Open makes it", ErrLost, again[0].name)
			}
		}
		missing = again
	}
	return nil
}

// open runs scriptOpen on some shards.
func (f *Filter) open(ctx context.Context, mayMake bool, shards []*shard, ttl time.Duration, like time.Time) []*request {
	expires := int64(0)
	if !like.IsZero() {
		expires = like.UnixMilli()
	}
	requests := make([]*request, len(shards))
	for i, s := range shards {
		h := f.plan.header(ttl)
		requests[i] = &request{shard: s, script: f.scripts.open, args: []any{mayMake, h.encode(), f.plan.layout.end, ttl.Milliseconds(), expires}}
	}
	f.exec(ctx, requests...)
	return requests
}

// opened reads the reply to scriptOpen.
func (f *Filter) opened(s *shard, r *request) (state byte, h header, err error) {
	reply, err := r.text()
	if err != nil {
		return 0, h, f.explain(s, nil, err)
	}
	if reply == "" {
		return 0, h, fmt.Errorf("redisfilter: key %q: an empty reply, want a state and a header", s.name)
	}
	if state = reply[0]; state == 'n' || state == 'r' {
		return state, h, nil
	}
	if h, err = decodeHeader(s.name, reply[1:]); err != nil {
		return 0, h, err
	}
	return state, h, f.plan.check(s.name, h)
}

// begin begins a life with a header unless it is the one that goes on.
func (f *Filter) begin(s *shard, h header) {
	if l := s.life.Load(); l == nil || l.epoch != h.epoch || l.lost.Load() {
		s.life.Store(f.newLife(h))
	}
}

// claim takes a slot for a life that has none. Of several goroutines, one asks the server; the others
// wait, but no longer than ctx allows.
func (f *Filter) claim(ctx context.Context, s *shard, l *life) error {
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
		return send.Explain(s.name, ctx.Err())
	}
	if l.slot.Load() != nil {
		return nil
	}
	r := &request{shard: s, script: f.scripts.claim, args: []any{l.epoch, l.owner}}
	f.exec(ctx, r)
	if err := r.err(); err != nil {
		return f.explain(s, l, err)
	}
	i, ok := r.cmd.Val().(int64)
	if !ok || i < 0 || uint64(i) >= f.plan.layout.slots {
		return fmt.Errorf("redisfilter: key %q: the script answered %v, want a slot below %d", s.name, r.cmd.Val(), f.plan.layout.slots)
	}
	made := &slot{at: f.plan.layout.table + uint64(i)*slotBytes}
	made.touched.Store(time.Now().UnixNano())
	l.slot.Store(made)
	return nil
}

// ready returns an error if a shard was found lost before, or the filter is closed.
func (f *Filter) ready(s *shard, l *life) error {
	switch {
	case f.closed.Load():
		return errClosed
	case l.lost.Load():
		return f.onLost(s, l, "it was noticed before")
	}
	return nil
}

// onLost marks a life as lost and returns the error.
func (f *Filter) onLost(s *shard, l *life, how string) error {
	if l != nil && !l.lost.Swap(true) {
		f.sender.Counts.Lost.Add(1)
	}
	return fmt.Errorf("%w: key %q: %s; keys are forgotten: Reopen continues with what is there", ErrLost, s.name, how)
}

// The ways in which a filter is lost.
const (
	isGone  = "the value is gone, another one, or cut short"
	isTaken = "the value is an older one, or this handle has not added for a minute and its slot was given to another"
	isOlder = "the server has gone back to an older value than it had confirmed (failover, restart or restore)"
)

// explain turns the refusal of a script into an error of this package, and marks a lost life.
func (f *Filter) explain(s *shard, l *life, err error) error {
	switch send.Code(err) {
	case send.Gone:
		return f.onLost(s, l, isGone)
	case send.Taken:
		return f.onLost(s, l, isTaken)
	case send.Older:
		return f.onLost(s, l, isOlder)
	case send.Handles:
		return fmt.Errorf("%w: key %q: all %d slots belong to handles that have added within a minute: use fewer handles, or Close those that are not used", ErrHandles, s.name, f.plan.layout.slots)
	}
	return send.Explain(s.name, err)
}

// Delete removes the filter from Redis for all processes: the next call of others and of this handle
// returns [ErrLost]. A filter that another process has put in its place is left alone. After an error,
// some shards may have been removed, and Delete can be called again.
func (f *Filter) Delete(ctx context.Context) error {
	for _, s := range f.shards {
		l := s.life.Load()
		r := &request{shard: s, script: f.scripts.delete, args: []any{l.epoch}}
		if f.exec(ctx, r); r.err() != nil {
			return f.explain(s, nil, r.err())
		}
		l.lost.Store(true)
	}
	return nil
}

// Close gives the slots of this handle back, so that other handles can add. The filter stays in Redis,
// and the client open; calls of f return an error from then on. The error wraps [ErrLost] if the
// server has forgotten adds of this handle.
func (f *Filter) Close(ctx context.Context) error {
	if f.closed.Swap(true) {
		return errClosed
	}
	var requests []*request
	for _, s := range f.shards {
		l := s.life.Load()
		if sl := l.slot.Load(); sl != nil && !l.lost.Load() {
			requests = append(requests, &request{shard: s, script: f.scripts.free, args: []any{l.epoch, sl.at, sl.at + 15, l.owner, sl}})
		}
	}
	f.exec(ctx, requests...)
	var failed error
	for _, r := range requests {
		if err := r.err(); err != nil && failed == nil {
			failed = f.explain(r.shard, r.shard.life.Load(), err)
		}
	}
	return failed
}

// A request is a script that runs on a shard.
type request struct {
	shard  *shard
	script script
	second string // the second key, if there is one
	args   []any
	once   bool // the client must not repeat it
	add    bool // replicas confirm it

	cmd  *redis.Cmd
	call *send.Call
}

// exec runs requests. A server that does not know a script gets its source.
func (f *Filter) exec(ctx context.Context, requests ...*request) {
	for _, verb := range []string{"EVALSHA", "EVAL"} {
		var todo []*request
		var calls []*send.Call
		for _, r := range requests {
			text := r.script.sha
			if verb == "EVAL" {
				if send.Code(r.err()) != "NOSCRIPT" {
					continue
				}
				text = r.script.source
			}
			args := append(make([]any, 0, 5+len(r.args)), verb, text, 1, r.shard.name)
			if r.second != "" {
				args[2] = 2
				args = append(args, r.second)
			}
			r.cmd = redis.NewCmd(ctx, append(args, r.args...)...)
			r.call = &send.Call{Key: r.shard.name, Cmd: r.cmd, Add: r.add}
			if r.once {
				r.call.Cmd = send.Once{Cmder: r.cmd}
			}
			todo, calls = append(todo, r), append(calls, r.call)
		}
		if len(todo) == 0 {
			return
		}
		f.sender.Send(ctx, calls...)
	}
}

func (r *request) err() error { return r.call.Err() }

// text returns the reply if it is a text.
func (r *request) text() (string, error) {
	if err := r.err(); err != nil {
		return "", err
	}
	text, ok := r.cmd.Val().(string)
	if !ok {
		return "", fmt.Errorf("redisfilter: key %q: the script answered %T, want a string", r.shard.name, r.cmd.Val())
	}
	return text, nil
}
