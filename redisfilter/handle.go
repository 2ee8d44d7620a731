package redisfilter

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A handle has what all calls share: the plan of the filter, the sender of commands, and the known state of each shard.
// docs/layout.md explains the terms of this package.
type handle struct {
	plan   *plan
	sender *send.Sender
	shards []*shard
}

// Texts of errors that wrap ErrLost.
const (
	isGone  = "value missing, replaced or truncated; keys were lost"
	isOlder = "the server went back to an older value (failover, restart or restore); keys were lost"
)

// gone is called when a reply shows that the server does not have the value that the handle knows. how is the text of
// the error. If the known value has expired, nothing was lost: the batch continues with the next value. Otherwise gone
// sets b.err to an error that wraps ErrLost, and the next call uses the present value.
func (f *handle) gone(ctx context.Context, add bool, b *batch, how string) {
	v := b.value
	if !v.expires.IsZero() {
		if f.renew(ctx, add, b); v.expired.Load() || b.err != nil && !errors.Is(b.err, ErrLost) {
			return
		}
	}
	b.err = f.lost(v, how)
}

// lost marks an incarnation as lost. It returns an error that wraps ErrLost, with the text how.
func (f *handle) lost(v *incarnation, how string) error {
	if !v.lost.Swap(true) {
		f.sender.Counts.Lost.Add(1)
	}
	return send.Errorf(ErrLost, "%s", how)
}

// renew sets a batch's incarnation to the present value of its shard. If there is no value, an add makes one. A lookup
// makes none: if the old value has expired, all keys are absent; otherwise b.err wraps ErrLost. One goroutine per shard
// asks the server; others wait for it until ctx ends.
func (f *handle) renew(ctx context.Context, add bool, b *batch) {
	s, v := b.shard, b.value
	select {
	case s.renewing <- struct{}{}:
		defer func() { <-s.renewing }()
	case <-ctx.Done():
		b.err = fmt.Errorf("stopped waiting for the shard to be made anew: %w", ctx.Err())
		return
	}
	if now := s.value.Load(); now != v {
		b.use(f, now)
		return
	}
	like, sent := found{}, elapsed()
	like.TTL = v.ttl.Milliseconds()
	for _, other := range f.shards { // a shard that was renewed earlier has the latest expiry
		if now := other.value.Load(); now.expiry > like.Expiry {
			like.Expiry = now.expiry
		}
	}
	is, err := f.opened(f.open(ctx, add, []*shard{s}, like)[0])
	if err != nil {
		b.err = err
		return
	}
	if v.expiry > 0 && is.us/1000 >= float64(v.expiry) {
		v.expired.Store(true)
	}
	switch {
	case is.state == 'w':
		now := newIncarnation(f.plan, is, sent)
		s.value.Store(now)
		b.use(f, now)
	case v.expired.Load() && len(b.indices) > 0:
		b.settle(len(b.indices), answered)
	default:
		b.err = send.Errorf(ErrLost, "there is no filter; the next add makes it")
	}
}

// prepare sets the incarnation and the expected state of each batch. If the incarnation of a shard is marked as lost,
// prepare renews it.
func (f *handle) prepare(ctx context.Context, add bool, batches []*batch) {
	for _, b := range batches {
		if b.use(f, b.shard.value.Load()); b.value.lost.Load() {
			f.renew(ctx, add, b)
		}
	}
}
