package bloom

import (
	"github.com/seed3447c163/bloom/internal/failure"
)

// Errors that callers match with errors.Is. An error that wraps one of them names the value and what was expected.
var (
	// ErrInvalid means that a parameter is outside its range.
	ErrInvalid = failure.ErrInvalid

	// ErrTooLarge means that the filter would need more bytes than the machine has, than an int can count, or than
	// WithMaxBytes allows. The machine's memory is known on Linux, Windows, macOS and the BSDs. On other systems the
	// runtime may end the program.
	ErrTooLarge = failure.ErrTooLarge

	// ErrFull means that a key was not added because there is no room for it, and the filter cannot grow.
	ErrFull = failure.ErrFull

	// ErrIncompatible means that two filters cannot be combined, because they place a key's bits differently. From a
	// reader, it means that a filter does not fit the options, is of another kind, or has another version of the
	// format.
	ErrIncompatible = failure.ErrIncompatible

	// ErrNotPortable means that a filter cannot be written, because no other process
	// could read it.
	ErrNotPortable = failure.ErrNotPortable

	// ErrCorrupt means that bytes are not a filter, are incomplete, or were damaged.
	ErrCorrupt = failure.ErrCorrupt
)

// fail returns an error that wraps kind. Inlined, it would add a kilobyte to each program.
//
//go:noinline
func fail(kind error, text string, args ...any) error { return failure.Errorf(kind, text, args...) }

//go:noinline
func invalid(text string, args ...any) error { return failure.Errorf(ErrInvalid, text, args...) }
