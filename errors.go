package bloom

import "errors"

// Errors that callers match with errors.Is. The error that wraps one names the
// value it objects to and what was expected.
var (
	// ErrInvalid means that a parameter is outside its range.
	ErrInvalid = errors.New("bloom: invalid parameter")

	// ErrTooLarge means that the filter would need more bytes than this machine
	// has or than its int can count.
	ErrTooLarge = errors.New("bloom: filter too large")

	// ErrIncompatible means that two filters cannot be combined, because they
	// put the same key's bits in different places.
	ErrIncompatible = errors.New("bloom: incompatible filters")
)
