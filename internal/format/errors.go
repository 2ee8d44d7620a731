// Package format reads and writes the bytes of a filter's file: a header, the words, two checksums.
// docs/formats.md describes them. Package bloom interprets the header's fields.
package format

import (
	"errors"
	"fmt"
	"io"
)

// The texts of the errors that package bloom documents. Another package puts its own prefix before them.
const (
	prefix       = "bloom: "
	invalid      = "invalid parameter"
	tooLarge     = "filter too large"
	incompatible = "incompatible filters"
	notPortable  = "filter is not portable"
	corrupt      = "corrupt data"
)

// The errors that package bloom documents. Other errors wrap them.
var (
	ErrInvalid      = errors.New(prefix + invalid)
	ErrTooLarge     = errors.New(prefix + tooLarge)
	ErrIncompatible = errors.New(prefix + incompatible)
	ErrNotPortable  = errors.New(prefix + notPortable)
	ErrCorrupt      = errors.New(prefix + corrupt)
)

// A Failure is an error of a kind.
type Failure struct{ Kind, Reason error }

func (f *Failure) Error() string   { return f.Kind.Error() + ": " + f.Reason.Error() }
func (f *Failure) Unwrap() []error { return []error{f.Kind, f.Reason} }

// Errorf returns an error of a kind. Its reason is that of fmt.Errorf.
func Errorf(kind error, text string, args ...any) error {
	return &Failure{kind, fmt.Errorf(text, args...)}
}

// Text returns the text of an error without the prefix of package bloom, if it is one of these.
func Text(err error) string {
	if f, ok := err.(*Failure); ok {
		return Text(f.Kind) + ": " + f.Reason.Error()
	}
	switch err {
	case ErrInvalid:
		return invalid
	case ErrTooLarge:
		return tooLarge
	case ErrIncompatible:
		return incompatible
	case ErrNotPortable:
		return notPortable
	case ErrCorrupt:
		return corrupt
	}
	return err.Error()
}

// In returns an error of the same kind that also says where, such as "layer 3".
func In(err error, where string, args ...any) error {
	var f *Failure
	if !errors.As(err, &f) {
		return fmt.Errorf("%w, in %s", err, fmt.Sprintf(where, args...))
	}
	return &Failure{f.Kind, fmt.Errorf("%w, in %s", f.Reason, fmt.Sprintf(where, args...))}
}

// As returns an error of another kind, for the reason of err if that is a Failure.
func As(kind, err error) error {
	if f := (*Failure)(nil); errors.As(err, &f) {
		err = f.Reason
	}
	return &Failure{kind, err}
}

// Full fills p, a part of what. It returns io.EOF itself if first is true and nothing was read. Any other end
// wraps ErrCorrupt and io.ErrUnexpectedEOF.
func Full(r io.Reader, p []byte, what string, first bool) (int, error) {
	n, err := io.ReadFull(r, p)
	switch {
	case err == nil || err == io.EOF && first:
		return n, err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return n, Truncated(what)
	}
	return n, fmt.Errorf("bloom: reading %s: %w", what, err)
}

// Truncated is the error for bytes that end within what.
func Truncated(what string) error {
	return Errorf(ErrCorrupt, "it ends within %s: %w", what, io.ErrUnexpectedEOF)
}
