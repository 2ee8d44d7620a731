// Package format reads and writes the bytes of a filter's file: a header, the words, two checksums.
// docs/format.md describes them. Package bloom interprets the header's fields.
package format

import (
	"errors"
	"fmt"
	"io"
)

// The errors of damaged and foreign bytes, which package bloom documents.
var (
	ErrCorrupt      = errors.New("bloom: corrupt data")
	ErrIncompatible = errors.New("bloom: incompatible filters")
)

// A Failure is an error of a kind, one of the errors that package bloom documents.
type Failure struct{ Kind, Reason error }

func (f *Failure) Error() string   { return f.Kind.Error() + ": " + f.Reason.Error() }
func (f *Failure) Unwrap() []error { return []error{f.Kind, f.Reason} }

// As returns an error of another kind, for the reason of err if that is a Failure.
func As(kind, err error) error {
	if f, ok := errors.AsType[*Failure](err); ok {
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
	return fmt.Errorf("%w: it ends within %s: %w", ErrCorrupt, what, io.ErrUnexpectedEOF)
}
