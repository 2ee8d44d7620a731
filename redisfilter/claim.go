package redisfilter

import (
	"context"
	"fmt"
)

// claim takes a slot for an incarnation that has none. Of several goroutines, one asks the server; the others wait, but no
// longer than ctx allows.
func (f *handle) claim(ctx context.Context, s *shard, v *incarnation) (*slot, error) {
	select {
	case v.claiming <- struct{}{}:
		defer func() { <-v.claiming }()
	case <-ctx.Done():
		return nil, fmt.Errorf("stopped waiting for a slot: %w", ctx.Err())
	}
	if sl := v.slot.Load(); sl != nil {
		return sl, nil
	}
	tag, table := newNonce(), f.plan.table
	r := &request{keys: []string{s.name}, script: claimScript, args: []any{v.epoch, tag, table, f.plan.end - 1}}
	f.exec(ctx, r)
	got, err := reply[[]any](r)
	if err != nil {
		return nil, f.refused(v, nil, err)
	}
	if len(got) == 2 {
		i, first := got[0].(int64)
		claims, second := got[1].(int64)
		if first && second && i >= 0 && uint64(i) < f.plan.slots && claims > 0 {
			sl := newSlot(table+uint64(i)*slotBytes, tag, uint64(claims))
			v.slot.Store(sl)
			return sl, nil
		}
	}
	return nil, fmt.Errorf("reply %v to a claim, want a slot below %d", got, f.plan.slots)
}
