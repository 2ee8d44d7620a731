// Package failure makes the module's errors. Each wraps one of the sentinels that package bloom documents, and
// knows its text without a package's name, so that the package that returns it puts its own name first, once.
package failure

import (
	"errors"
	"fmt"
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
