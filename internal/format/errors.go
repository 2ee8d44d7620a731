// Package format reads and writes the bytes of a filter's file: a header, the words, two checksums.
// docs/formats.md describes them. Package bloom interprets the header's fields.
package format

import (
	"errors"
	"fmt"
	"io"
)

// The errors that package bloom documents. Other errors wrap them.
var (
	ErrInvalid      error = &named{text: "invalid parameter"}
	ErrTooLarge     error = &named{text: "filter too large"}
	ErrIncompatible error = &named{text: "incompatible filters"}
	ErrNotPortable  error = &named{text: "filter is not portable"}
	ErrCorrupt      error = &named{text: "corrupt data"}
)

// A named error has a text that begins with the name of package bloom.
type named struct {
	text string
	err  error
}

func (e *named) Error() string { return "bloom: " + e.text }
func (e *named) Text() string  { return e.text }
func (e *named) Unwrap() error { return e.err }

// A Failure is an error of a kind.
type Failure struct{ Kind, Reason error }

func (f *Failure) Error() string   { return f.Kind.Error() + ": " + f.Reason.Error() }
func (f *Failure) Text() string    { return Text(f.Kind) + ": " + f.Reason.Error() }
func (f *Failure) Unwrap() []error { return []error{f.Kind, f.Reason} }

// Errorf returns an error of a kind. fmt.Errorf formats the reason.
func Errorf(kind error, text string, args ...any) error {
	return &Failure{kind, fmt.Errorf(text, args...)}
}

// Reading returns an error of a reader, for what was to be read.
func Reading(what string, err error) error {
	return &named{fmt.Sprintf("reading %s: %v", what, err), err}
}

// Text returns the text of an error without the name of its package, if its type knows that. Another package or
// program puts its own name before it.
func Text(err error) string {
	if e, ok := err.(interface{ Text() string }); ok {
		return e.Text()
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
	return n, Reading(what, err)
}

// Truncated is the error for bytes that end within what.
func Truncated(what string) error {
	return Errorf(ErrCorrupt, "it ends within %s: %w", what, io.ErrUnexpectedEOF)
}
