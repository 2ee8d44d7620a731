package redisfilter

import (
	"context"
	"fmt"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A handle is what every call needs: what the filter is like, the way to the server, and what is known of each shard.
// docs/layout.md explains this package's words.
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

// The ways in which a filter is lost.
const (
	isGone     = "value missing, replaced or truncated; keys were lost"
	isOlder    = "the server went back to an older value (failover, restart or restore); keys were lost"
	isUnproven = "nothing shows that the server has every add of this handle: more handles add than the filter has slots for, see " +
		"WithHandles, so that the handle's record was displaced too often and nothing is known to be lost; or the server went back to an " +
		"older value"
)

// refused turns the refusal of a script into an error of this package, and marks a lost incarnation.
func (f *handle) refused(v *incarnation, err error) error {
	switch send.Code(err) {
	case send.Gone:
		return f.onLost(v, isGone)
	case send.Older:
		return f.onLost(v, isOlder)
	}
	return err
}

// claim gets a slot for a handle whose record is at a place where it may not add. The script refuses if it cannot show
// that the value has every confirmed add. Of several goroutines, one asks the server; the others wait, but no longer
// than ctx allows. A claim is repeated with the same tag, so one without a reply takes no second slot.
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
	case send.Code(err) == send.Older: // no record is there, or only one that the handle has left behind
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
