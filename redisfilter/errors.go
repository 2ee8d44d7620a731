package redisfilter

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Errors that callers match with errors.Is. Parameters out of range wrap bloom.ErrInvalid, local
// filters with another layout bloom.ErrIncompatible.
var (
	// ErrMismatch means that the key holds something else: a filter with other parameters, or no
	// filter of this package. Nothing was changed.
	ErrMismatch = send.ErrMismatch

	// ErrLost means that the filter or one of its shards is gone (evicted, expired, flushed, deleted,
	// lost in a restart), was made anew by another process, or that the server has gone back to an
	// older value. Keys are forgotten. [Filter.Reopen] continues with the value that is there, or with
	// an empty one.
	ErrLost = send.ErrLost

	// ErrUnknown means that some keys of an add have no answer: they may or may not be in the filter.
	// [AddError] lists them.
	ErrUnknown = send.ErrUnknown

	// ErrReplicas means that fewer replicas than [WithWait] requires confirmed an add in time. The
	// answers are valid, but a failover may lose the keys. [AddError] lists them.
	ErrReplicas = send.ErrReplicas

	// ErrFull means that a growing filter has reached its limit and takes no new keys.
	// Keys that are in it are still answered. [AddError] lists the refused keys.
	ErrFull = send.ErrFull

	// ErrHandles means that this handle cannot add, because all slots of the filter belong to
	// handles that have added within the last minute. Lookups need no slot.
	ErrHandles = send.ErrHandles
)

// An AddError lists the keys of Add or AddMany without an answer. The answers of all other keys are
// valid.
//
// A key of Unknown may be in the filter although no process was told that it is new. A program that
// adds it again and trusts a false loses it. If no key may be lost, treat the key as new, at the risk
// of doing some work twice. If no work may be done twice, drop the key.
type AddError struct {
	Unknown     []int // indices of keys that may or may not have been added
	Unconfirmed []int // indices of keys that were added and have an answer, but are on too few replicas
	NotAdded    []int // indices of keys that this call has definitely not added; they can be added again
	Err         error // the cause
}

// Error counts the keys of each kind and names the cause.
func (e *AddError) Error() string {
	var kinds []string
	for _, kind := range []struct {
		keys []int
		text string
	}{
		{e.Unknown, "may or may not have been added"}, {e.Unconfirmed, "on too few replicas"}, {e.NotAdded, "not added"},
	} {
		switch len(kind.keys) {
		case 0:
		case 1:
			kinds = append(kinds, "1 key "+kind.text)
		default:
			kinds = append(kinds, fmt.Sprintf("%d keys %s", len(kind.keys), kind.text))
		}
	}
	return fmt.Sprintf("redisfilter: %s: %s", strings.Join(kinds, ", "), strings.TrimPrefix(e.Err.Error(), "redisfilter: "))
}

// Unwrap returns the cause, and ErrUnknown if there are such keys.
func (e *AddError) Unwrap() []error {
	if len(e.Unknown) > 0 {
		return []error{e.Err, ErrUnknown}
	}
	return []error{e.Err}
}
