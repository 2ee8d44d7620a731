package bloom

import (
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom/internal/format"
)

// Errors that callers match with errors.Is. An error that wraps one names the value and what was
// expected.
var (
	// ErrInvalid means that a parameter is outside its range.
	ErrInvalid = errors.New("bloom: invalid parameter")

	// ErrTooLarge means that the filter would need more bytes than the machine has, than
	// its int can count, or than WithMaxBytes allows. The machine's memory is known on
	// Linux, Windows, macOS and the BSDs. On other systems the runtime may end the program.
	ErrTooLarge = errors.New("bloom: filter too large")

	// ErrIncompatible means that two filters cannot be combined, because they put the
	// same key's bits in different places, or that a filter cannot be read with the
	// given options.
	ErrIncompatible = format.ErrIncompatible

	// ErrNotPortable means that a filter cannot be written, because no other process
	// could read it.
	ErrNotPortable = errors.New("bloom: filter is not portable")

	// ErrCorrupt means that bytes are no filter, are incomplete, or have changed.
	ErrCorrupt = format.ErrCorrupt
)

// fail returns an error of one of these kinds.
func fail(kind error, text string, args ...any) error {
	return &format.Failure{Kind: kind, Reason: fmt.Errorf(text, args...)}
}

func invalid(text string, args ...any) error { return fail(ErrInvalid, text, args...) }
