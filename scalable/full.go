package scalable

import (
	"errors"
	"strings"
	"sync/atomic"
)

// ErrFull means that a key could not be added because the filter may not or cannot
// grow any more.
var ErrFull = errors.New("scalable: filter full")

// A fullError is why a filter cannot have a further layer.
type fullError struct {
	cause  error
	usedUp atomic.Bool // the last layer has no room, and no add that is under way can make some
}

func (e *fullError) Error() string {
	return ErrFull.Error() + ": " + strings.TrimPrefix(e.cause.Error(), "bloom: ")
}

func (e *fullError) Unwrap() []error { return []error{ErrFull, e.cause} }
