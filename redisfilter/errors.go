package redisfilter

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Errors that callers match with errors.Is. Parameters out of range wrap
// bloom.ErrInvalid, local filters with another layout bloom.ErrIncompatible.
var (
	// ErrMismatch means that the key holds something else: a filter with other
	// parameters, or no filter of this package. Nothing was changed; but see
	// [Filter.Push] for one case.
	ErrMismatch = send.ErrMismatch

	// ErrLost means that the filter, or one of its shards, is gone: evicted,
	// expired, flushed, deleted, lost in a restart, or made anew by another process; or
	// that the server has gone back to an older value of it. Keys are forgotten.
	// [Filter.Reopen] goes on with what is there, or an empty one.
	ErrLost = send.ErrLost

	// ErrUnknown means that no answer came for some keys of an add, so that they
	// may or may not be in the filter. [AddError] says which.
	ErrUnknown = send.ErrUnknown

	// ErrReplicas means that fewer replicas than [WithWait] asks for confirmed an
	// add in time. The keys are in the primary's memory, and the answers are valid; a
	// failover may lose the keys. [AddError] says which.
	ErrReplicas = send.ErrReplicas

	// ErrFull means that a filter of package growing or module may not or cannot grow any more, and
	// holds as many keys as it is for. Keys that are in are still answered; [AddError] says which
	// were refused. A [Filter] takes any number of keys: it errs more often then.
	ErrFull = send.ErrFull
)

// An AddError says which keys of an Add or AddMany have no answer. The answers of
// all the others are valid.
//
// A key of Unknown may be in the filter although no process was told that it is new.
// A program that adds it again, and trusts a false, loses it. If no key may be lost, treat
// it as new, and some work may be done twice. If no work may be done twice, drop
// it. A key of Unconfirmed was added, and whether it was new is known; a
// failover may forget it. A key of NotAdded can simply be added again.
type AddError struct {
	Unknown     []int // indices of keys that may or may not have been added
	Unconfirmed []int // indices of keys whose answers are valid, but too few replicas have them
	NotAdded    []int // indices of keys that this call has definitely not added
	Err         error // why
}

// Error names the cause and how many keys it left without an answer.
func (e *AddError) Error() string {
	return fmt.Sprintf("redisfilter: %d keys may or may not have been added, %d are on too few replicas, %d were not added: %s",
		len(e.Unknown), len(e.Unconfirmed), len(e.NotAdded), strings.TrimPrefix(e.Err.Error(), "redisfilter: "))
}

// Unwrap makes errors.Is and errors.As see the cause, and ErrUnknown if there are
// such keys.
func (e *AddError) Unwrap() []error {
	if len(e.Unknown) > 0 {
		return []error{e.Err, ErrUnknown}
	}
	return []error{e.Err}
}
