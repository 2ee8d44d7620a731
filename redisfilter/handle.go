package redisfilter

import (
	"context"
	"fmt"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A handle has the data of every call: the plan of the filter, the sender of commands, and the known state of each
// shard. docs/layout.md explains the words of this package.
type handle struct {
	plan   *plan
	sender *send.Sender
	shards []*shard
}

// onLost marks an incarnation as lost and returns the error.
func (f *handle) onLost(v *incarnation, how string) error {
	if v != nil && !v.lost.Swap(true) {
		f.sender.Counts.Lost.Add(1)
	}
	return send.Errorf(ErrLost, "%s. Call Reopen", how)
}

// Texts of ErrLost.
const (
	isGone     = "value missing, replaced or truncated; keys were lost"
	isOlder    = "the server went back to an older value (failover, restart or restore); keys were lost"
	isUnproven = "nothing shows that the server has every add of this handle: more handles add than the filter has slots for, see " +
		"WithHandles, so that the handle's record was displaced too often and nothing is known to be lost; or the server went back to an " +
		"older value"
)

// refused turns the codes Gone and Older of a script into ErrLost, and marks the incarnation as lost.
func (f *handle) refused(v *incarnation, err error) error {
	switch send.Code(err) {
	case send.Gone:
		return f.onLost(v, isGone)
	case send.Older:
		return f.onLost(v, isOlder)
	}
	return err
}

// claim gets a slot for a handle that owns none. record is its last known record. The script refuses unless a record
// with the handle's tag shows that the value has every confirmed add. One goroutine asks the server; others wait for it
// until ctx ends. A claim without a reply does not take a second slot when it is repeated, because it has the same tag.
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
	r := &request{keys: []string{s.name}, script: claimScript, args: []any{who, v.plan.table, v.plan.end - 1}}
	f.exec(ctx, r)
	i, err := reply[int64](r)
	switch {
	case send.Code(err) == send.Older: // the value has no record of the handle, or only an older one
		return 0, f.onLost(v, isUnproven)
	case err != nil:
		return 0, f.refused(v, err)
	case i < 0 || uint64(i) >= v.plan.slots:
		return 0, fmt.Errorf("reply %d to a claim, want a slot below %d", i, v.plan.slots)
	}
	record = v.plan.table + uint64(i)*slotBytes
	v.slot.record.Store(record)
	return record, nil
}
