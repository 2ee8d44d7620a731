package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Open makes the filter of this name, for n different keys at a false-positive rate of at most p, or joins it if it
// exists. n is the number of all keys. With [WithGrowth] it is the number of keys in the first layer, with
// [WithGenerations] in each generation. All processes that open a filter must pass the same n, p, growth or window,
// hash and shards. The least p is 1e-12, or (count+1)·1e-12 with WithGenerations.
//
// The error wraps bloom.ErrInvalid for parameters that bloom.New refuses and for an unsuitable client,
// bloom.ErrTooLarge for a filter that is too large for Redis, bloom.ErrFull if the server's proto-max-bulk-len is too
// small, and [ErrMismatch] if the name holds something else. Open never overwrites it.
//
// The caller closes the client. Open refuses a client that reads from replicas, because replicas may not have keys that
// were just added. It also refuses the address of a replica; a Ring, which continues with another server, without the
// keys, when one does not answer; and an AutoPipeliner: a filter puts commands of many goroutines into pipelines
// itself. The filter does not use a cache of the client. It repeats commands itself; the client's MaxRetries has no
// effect.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) (*Filter, error) {
	o, sender, err := checked(client, name, opts)
	if err != nil {
		return nil, err
	}
	return open(ctx, sender, name, n, p, o, true)
}

// Join opens the filter of this name with the n, p, shards, growth or window with which it was made, and with its hash
// if package bloom has it. Pass a seed, a secret or a custom hash as options. Join never creates a filter: the error
// wraps [ErrLost] if the filter or a part of it is missing. Join also returns the errors of [Open]. It runs a script:
// the ACL +@read alone does not suffice.
func Join(ctx context.Context, client redis.UniversalClient, name string, opts ...Option) (*Filter, error) {
	o, sender, err := checked(client, name, opts)
	if err != nil {
		return nil, err
	}
	h, err := readHeader(ctx, sender, name)
	if err == nil {
		o, err = h.options(o)
	}
	if err != nil {
		return nil, send.Explain(name, err)
	}
	return open(ctx, sender, name, h.N, h.P, o, false)
}

// checked checks the client, the name and the options, and returns a sender for the client. newPlan checks n, p and the
// size.
func checked(client redis.UniversalClient, name string, opts []Option) (o options, sender *send.Sender, err error) {
	if o, err = newOptions(opts); err == nil {
		err = checkName(name)
	}
	if err == nil {
		sender, err = send.New(client, o.replicas, o.wait)
	}
	if err != nil {
		return o, nil, &send.Error{Err: err}
	}
	return o, sender, nil
}

func open(ctx context.Context, sender *send.Sender, name string, n uint64, p float64, o options, mayMake bool) (*Filter, error) {
	plan, err := newPlan(n, p, o)
	if err != nil {
		return nil, &send.Error{Err: err}
	}
	h := &handle{plan: plan, sender: sender}
	f := &Filter{joined: h, adds: make([]queue, plan.shards), lookups: make([]queue, plan.shards)}
	for i := range plan.shards {
		s := &shard{name: shardName(name, i, plan.shards), renewing: make(chan struct{}, 1)}
		h.shards = append(h.shards, s)
		f.adds[i].handle, f.adds[i].shard, f.adds[i].add = h, s, true
		f.lookups[i].handle, f.lookups[i].shard = h, s
	}
	if err := h.join(ctx, mayMake); err != nil {
		return nil, err
	}
	return f, nil
}

// lookAtOnce is the number of shards that join reads in one pipeline.
const lookAtOnce = 64

// join makes or joins every shard, or only joins them if mayMake is false. It looks at all shards before it makes one:
// if one holds something else, join makes nothing.
func (f *handle) join(ctx context.Context, mayMake bool) error {
	like := found{}
	like.TTL = f.plan.opts.ttl.Milliseconds()
	const tries = 10
	missing := f.shards
	for try := 0; len(missing) > 0; try++ {
		if try > tries {
			return send.Explain(missing[0].name, send.Errorf(ErrLost,
				"created %d times and evicted or deleted each time: give the server more memory", tries))
		}
		var again []*shard
		for first := 0; first < len(missing); first += lookAtOnce {
			shards, sent := missing[first:min(first+lookAtOnce, len(missing))], elapsed()
			for i, r := range f.open(ctx, try > 0, shards, like) {
				is, err := f.opened(r)
				if err != nil {
					return send.Explain(shards[i].name, err)
				}
				if is.state != 'w' {
					again = append(again, shards[i])
					continue
				}
				shards[i].value.Store(newIncarnation(f.plan, is, sent))
				if is.expires().Before(like.expires()) {
					is.Expiry = like.Expiry
				}
				like = is
			}
			if len(again) > 0 && !mayMake {
				return send.Explain(again[0].name, send.Errorf(ErrLost, "there is no filter, or not all of it; Open creates it"))
			}
		}
		missing = again
	}
	return nil
}

// open runs open.lua on shards. If mayMake is true, each node gets one command at a time, so that it answers other
// clients between two commands. A new value gets the TTL and the expiry of like, so that all shards expire together.
func (f *handle) open(ctx context.Context, mayMake bool, shards []*shard, like found) []*request {
	expires := int64(0)
	if at := like.expires(); !at.IsZero() {
		expires = at.UnixMilli()
	}
	requests := make([]*request, len(shards))
	for i, s := range shards {
		h := f.plan.header(like.ttl())
		args := []any{mayMake, h.encode(), f.plan.end, h.TTL, expires, h.Millis}
		requests[i] = &request{keys: []string{s.name}, script: openScript, args: args, alone: mayMake}
	}
	f.exec(ctx, requests...)
	return requests
}

// A found is the decoded reply of open.lua: the state of the value, the server's clock in microseconds, and the header.
type found struct {
	state byte
	us    float64
	header
}

// opened decodes the reply to open.lua. It returns an error if the shard holds something else than this filter.
func (f *handle) opened(r *request) (is found, err error) {
	text, err := reply[string](r)
	if err != nil {
		return is, err
	}
	if len(text) < 9 {
		return is, fmt.Errorf("a reply of %d bytes, want a state, a time and a header", len(text))
	}
	is.state, is.us = text[0], math.Float64frombits(binary.LittleEndian.Uint64([]byte(text[1:9])))
	if is.state == 'n' || is.state == 'r' {
		return is, nil
	}
	if is.header, err = decodeHeader(text[9:]); err != nil {
		return is, err
	}
	if ttl := f.plan.opts.ttl; ttl > 0 && is.TTL == 0 {
		return is, send.Errorf(ErrMismatch, "no time to live; opened with WithTTL(%v)", ttl)
	}
	return is, f.plan.check(is.header)
}

// Delete removes the filter from Redis for all processes. The next call of another handle returns [ErrLost]. The next
// add of this handle creates the filter again. Delete does not remove a filter that another process has made since
// under the same name. After an error, some shards may have been removed; call Delete again.
func (f *Filter) Delete(ctx context.Context) error {
	h := f.handle()
	for _, s := range h.shards {
		v := s.value.Load()
		r := &request{keys: []string{s.name}, script: deleteScript, args: []any{v.epoch}}
		h.exec(ctx, r)
		if _, err := reply[int64](r); err != nil {
			return send.Explain(s.name, err)
		}
		v.lost.Store(true)
	}
	return nil
}
