package bloom

import (
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom/internal/format"
)

// Errors that callers match with errors.Is. The error that wraps one names the
// value it objects to and what was expected.
var (
	// ErrInvalid means that a parameter is outside its range.
	ErrInvalid = errors.New("bloom: invalid parameter")

	// ErrTooLarge means that the filter would need more bytes than this machine
	// has, than its int can count, or than WithMaxBytes allows. How much the machine
	// has is known on Linux, Windows, macOS and the BSDs; elsewhere the runtime may end
	// the program.
	ErrTooLarge = errors.New("bloom: filter too large")

	// ErrIncompatible means that two filters cannot be combined, because they
	// put the same key's bits in different places, or that a filter cannot be
	// read with the key, strategy or other options that the reader gave.
	ErrIncompatible = format.ErrIncompatible

	// ErrNotPortable means that a filter cannot be written, because the bytes
	// would mean nothing to another process.
	ErrNotPortable = errors.New("bloom: filter is not portable")

	// ErrCorrupt means that bytes are not a filter, or not all of one, or not as
	// they were written.
	ErrCorrupt = format.ErrCorrupt
)

// A failure is an error of one of these kinds.
type failure struct{ kind, reason error }

func (f *failure) Error() string   { return f.kind.Error() + ": " + f.reason.Error() }
func (f *failure) Unwrap() []error { return []error{f.kind, f.reason} }

// invalid returns an error that wraps ErrInvalid.
func invalid(format string, args ...any) error {
	return &failure{ErrInvalid, fmt.Errorf(format, args...)}
}

// corrupt returns an error about parameters as one about the bytes that they were read from.
func corrupt(err error) error {
	if f := (*failure)(nil); errors.As(err, &f) && f.kind == ErrInvalid {
		return &failure{ErrCorrupt, f.reason}
	}
	return err
}
