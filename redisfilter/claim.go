package redisfilter

import (
	"context"
	"fmt"
)

// claim gets a slot for a handle whose record is at a place where it may not add. The script refuses if it cannot show that the
// value has every confirmed add. Of several goroutines, one asks the server; the others wait, but no longer than ctx
// allows. A claim is repeated with the same tag, so one without a reply takes no second slot.
func (f *handle) claim(ctx context.Context, s *shard, v *incarnation, record uint64) (uint64, error) {
	select {
	case v.claiming <- struct{}{}:
		defer func() { <-v.claiming }()
	case <-ctx.Done():
		return 0, fmt.Errorf("stopped waiting for a slot: %w", ctx.Err())
	}
	if now := v.slot.record.Load(); now != record && owns(now) {
		return now, nil
	}
	who := v.slot.confirmed().appendTo([]byte(v.epoch + v.slot.tag))
	r := &request{keys: []string{s.name}, script: claimScript, args: []any{who, f.plan.table, f.plan.end - 1}}
	f.exec(ctx, r)
	i, err := reply[int64](r)
	switch {
	case err != nil:
		return 0, f.refused(v, err)
	case i < 0 || uint64(i) >= f.plan.slots:
		return 0, fmt.Errorf("reply %d to a claim, want a slot below %d", i, f.plan.slots)
	}
	record = f.plan.table + uint64(i)*slotBytes
	v.slot.record.Store(record)
	return record, nil
}
