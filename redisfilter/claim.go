package redisfilter

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// prepare sets the incarnations and slots of batches, or their errors. A shard that is lost does not keep the others from
// being asked.
func (f *Filter) prepare(ctx context.Context, add bool, batches []*batch) {
	var all sync.WaitGroup
	for _, b := range batches {
		b.value = b.shard.value.Load()
		b.state = f.plan.mode.expect(b.value.known())
		if b.err = f.ready(b.shard, b.value); b.err != nil {
			continue
		}
		switch b.slot = b.value.slot.Load(); {
		case !add || b.slot != nil:
		case len(batches) == 1:
			b.slot, b.err = f.claim(ctx, b.shard, b.value)
		default:
			all.Go(func() { b.slot, b.err = f.claim(ctx, b.shard, b.value) })
		}
	}
	all.Wait()
}

// claim takes a slot for an incarnation that has none. Of several goroutines, one asks the server; the others wait, but no longer
// than ctx allows.
func (f *Filter) claim(ctx context.Context, s *shard, v *incarnation) (*slot, error) {
	select {
	case v.claiming <- struct{}{}:
		defer func() { <-v.claiming }()
	case <-ctx.Done():
		return nil, send.Explain(s.name, ctx.Err())
	}
	if sl := v.slot.Load(); sl != nil {
		return sl, nil
	}
	tag, table := newNonce(), f.plan.layout.table
	r := &request{shard: s, script: claimScript, args: []any{v.epoch, tag, table, f.plan.layout.end - 1}}
	f.exec(ctx, r)
	got, err := reply[[]any](r)
	if err != nil {
		return nil, f.explain(s, v, nil, err)
	}
	if len(got) == 2 {
		i, first := got[0].(int64)
		claims, second := got[1].(int64)
		if first && second && i >= 0 && uint64(i) < f.plan.layout.slots && claims > 0 {
			sl := newSlot(table+uint64(i)*slotBytes, tag, uint64(claims))
			v.slot.Store(sl)
			return sl, nil
		}
	}
	return nil, fmt.Errorf("redisfilter: key %q: reply %v to a claim, want a slot below %d", s.name, got, f.plan.layout.slots)
}
