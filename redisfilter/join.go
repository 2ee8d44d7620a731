package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Reopen continues after [ErrLost] as [Open] would: it makes what is gone, empty, and joins what others have made anew or
// what is left after the server has gone back to an older value. Shards that are not lost stay as they are. If nothing is
// lost, Reopen does nothing. Goroutines that share the filter may all call it.
func (f *Filter) Reopen(ctx context.Context) error { return f.join(ctx, true) }

// lookAtOnce is the number of shards that one pipeline looks at.
const lookAtOnce = 64

// join makes or joins every shard. It looks at all of them before it makes one: if anything else is there, nothing is made.
// Unless mayMake is set, nothing is made.
func (f *Filter) join(ctx context.Context, mayMake bool) error {
	ttl, like := f.opts.ttl, time.Time{}
	if v := f.shards[0].value.Load(); v != nil {
		ttl = v.ttl
	}
	const tries = 10
	missing := f.shards
	for try := 0; len(missing) > 0; try++ {
		if try > tries {
			return fmt.Errorf("%w: key %q: created %d times and evicted or deleted each time: give the server more memory",
				ErrLost, missing[0].name, tries)
		}
		var again []*shard
		for first := 0; first < len(missing); first += lookAtOnce {
			shards := missing[first:min(first+lookAtOnce, len(missing))]
			for i, r := range f.open(ctx, try > 0, shards, ttl, like) {
				state, ms, h, err := f.opened(shards[i], r)
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
				if v := shards[i].value.Load(); v == nil || v.epoch != h.epoch || v.lost.Load() {
					shards[i].value.Store(f.newIncarnation(h, ms))
				}
			}
			if len(again) > 0 && !mayMake {
				return fmt.Errorf("%w: no filter, or not all of it, at key %q; Open creates it", ErrLost, again[0].name)
			}
		}
		missing = again
	}
	return nil
}

// open runs open.lua on some shards.
func (f *Filter) open(ctx context.Context, mayMake bool, shards []*shard, ttl time.Duration, like time.Time) []*request {
	expires := int64(0)
	if !like.IsZero() {
		expires = like.UnixMilli()
	}
	requests := make([]*request, len(shards))
	for i, s := range shards {
		h := f.plan.header(ttl)
		args := []any{mayMake, h.encode(), f.plan.layout.end, ttl.Milliseconds(), expires, h.millis}
		requests[i] = &request{shard: s, script: openScript, args: args}
	}
	f.exec(ctx, requests...)
	return requests
}

// opened reads the reply to open.lua.
func (f *Filter) opened(s *shard, r *request) (state byte, ms float64, h header, err error) {
	text, err := reply[string](r)
	if err != nil {
		return 0, 0, h, f.explain(s, nil, nil, err)
	}
	if len(text) < 9 {
		return 0, 0, h, fmt.Errorf("redisfilter: key %q: a reply of %d bytes, want a state, a time and a header", s.name, len(text))
	}
	state, ms = text[0], math.Float64frombits(binary.LittleEndian.Uint64([]byte(text[1:9])))
	if state == 'n' || state == 'r' {
		return state, ms, h, nil
	}
	if h, err = decodeHeader(s.name, text[9:]); err != nil {
		return 0, 0, h, err
	}
	if f.opts.ttl > 0 && h.ttl == 0 {
		return 0, 0, h, fmt.Errorf("%w: key %q has no time to live; opened with WithTTL(%v)", ErrMismatch, s.name, f.opts.ttl)
	}
	return state, ms, h, f.plan.check(s.name, h)
}

func (f *Filter) newIncarnation(h header, ms float64) *incarnation {
	v := &incarnation{epoch: h.epoch, ttl: time.Duration(h.ttl) * time.Millisecond, expires: h.expires, claiming: make(chan struct{}, 1)}
	v.state.Store(h.state)
	v.shift.Store(h.shift)
	v.time.Store(&sample{})
	v.hear(ms)
	if m := f.plan.scheme.Params().M; f.plan.mode.fixed() && m/8*uint64(f.plan.shards) <= f.opts.cache {
		v.cache = newCache(m)
	}
	return v
}

// Delete removes the filter from Redis for all processes: the next call of others and of this handle returns [ErrLost]. A
// filter that another process has put in its place is left alone. After an error, some shards may have been removed, and
// Delete can be called again.
func (f *Filter) Delete(ctx context.Context) error {
	for _, s := range f.shards {
		v := s.value.Load()
		r := &request{shard: s, script: deleteScript, args: []any{v.epoch}}
		f.exec(ctx, r)
		if _, err := reply[int64](r); err != nil {
			return f.explain(s, nil, nil, err)
		}
		v.lost.Store(true)
	}
	return nil
}
