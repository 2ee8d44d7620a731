package redisfilter

import (
	"context"
	"fmt"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// onLost marks an incarnation as lost and returns the error.
func (f *handle) onLost(s *shard, v *incarnation, how string) error {
	if v != nil && !v.lost.Swap(true) {
		f.sender.Counts.Lost.Add(1)
	}
	return fmt.Errorf("%w: key %q: %s. Call Reopen", ErrLost, s.name, how)
}

// The ways in which a filter is lost.
const (
	isGone  = "value missing, replaced or truncated; keys were lost"
	isOlder = "the server went back to an older value (failover, restart or restore); keys were lost"
)

// explain turns the refusal of a script into an error of this package, and marks a lost incarnation.
func (f *handle) explain(s *shard, v *incarnation, sl *slot, err error) error {
	switch send.Code(err) {
	case send.Gone:
		return f.onLost(s, v, isGone)
	case send.Taken:
		if claims, ok := numberIn(err); ok && sl != nil {
			return f.onTaken(s, v, sl, claims)
		}
	case send.Older:
		return f.onLost(s, v, isOlder)
	}
	return send.Explain(s.name, err)
}

// onTaken returns the error for a slot that has another tag: ErrSlot, or ErrLost if the value has seen no claim after
// ours, and so went back to before it.
func (f *handle) onTaken(s *shard, v *incarnation, sl *slot, claims uint64) error {
	if claims <= sl.claim {
		return f.onLost(s, v, isOlder)
	}
	v.slot.CompareAndSwap(sl, nil)
	return fmt.Errorf("%w: key %q: %d slots were claimed since this handle last added: the next add claims one",
		ErrSlot, s.name, f.plan.slots)
}

// taken returns the error of onTaken to a lookup that has found another tag, 0 if the value ends before the slot. It asks
// for the number of claims.
func (f *handle) taken(ctx context.Context, s *shard, v *incarnation, sl *slot, tag string) error {
	head, err := send.Do[string](ctx, f.sender, s.name, "GETRANGE", s.name, 0, headerBytes-1)
	if err != nil {
		return err
	}
	h, err := decodeHeader(s.name, head)
	if err != nil || h.epoch() != v.epoch || h.Claims.whole() > sl.claim && tag == free {
		return f.onLost(s, v, isGone)
	}
	return f.onTaken(s, v, sl, h.Claims.whole())
}
