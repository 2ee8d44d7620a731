package redisfilter

import (
	"context"
	"errors"

	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// onLost marks an incarnation as lost and returns the error.
func (f *handle) onLost(v *incarnation, how string) error {
	if v != nil && !v.lost.Swap(true) {
		f.sender.Counts.Lost.Add(1)
	}
	return failure.Errorf(ErrLost, "%s. Call Reopen", how)
}

// The ways in which a filter is lost.
const (
	isGone  = "value missing, replaced or truncated; keys were lost"
	isOlder = "the server went back to an older value (failover, restart or restore); keys were lost"
)

// refused turns the refusal of a script into an error of this package, and marks a lost incarnation.
func (f *handle) refused(v *incarnation, sl *slot, err error) error {
	switch send.Code(err) {
	case send.Gone:
		return f.onLost(v, isGone)
	case send.Taken:
		if claims, ok := numberIn(err); ok && sl != nil {
			return f.onTaken(v, sl, claims)
		}
	case send.Older:
		return f.onLost(v, isOlder)
	}
	return err
}

// onTaken returns the error for a slot that has another tag: ErrSlot, or ErrLost if the value has seen no claim after
// ours, and so went back to before it.
func (f *handle) onTaken(v *incarnation, sl *slot, claims uint64) error {
	if claims <= sl.claim {
		return f.onLost(v, isOlder)
	}
	v.slot.CompareAndSwap(sl, nil)
	return failure.Errorf(ErrSlot, "%d slots were claimed since this handle last added: the next add claims one", f.plan.slots)
}

// taken returns the error of onTaken to a lookup that has found another tag, 0 if the value ends before the slot. It asks
// for the number of claims.
func (f *handle) taken(ctx context.Context, key string, v *incarnation, sl *slot, tag string) error {
	h, err := readHeader(ctx, f.sender, key)
	switch {
	case err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrMismatch):
		return err
	case err != nil || h.epoch() != v.epoch || h.Claims.whole() > sl.claim && tag == free:
		return f.onLost(v, isGone)
	}
	return f.onTaken(v, sl, h.Claims.whole())
}
