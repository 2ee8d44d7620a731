// Package failure makes the errors of this module. Each wraps one of the errors that packages bloom and redisfilter document. It
// knows its text without a package's name, so that the function that returns it to the user puts a name first, once.
package failure

import (
	"errors"
	"fmt"
)

// A failure is an error of a kind. Those of package bloom have the same methods.
type failure struct{ kind, reason error }

func (f failure) Error() string   { return f.kind.Error() + ": " + f.reason.Error() }
func (f failure) Text() string    { return Text(f.kind) + ": " + f.reason.Error() }
func (f failure) Unwrap() []error { return []error{f.kind, f.reason} }

// Errorf returns an error of a kind. fmt.Errorf formats the reason.
func Errorf(kind error, text string, args ...any) error {
	return failure{kind, fmt.Errorf(text, args...)}
}

// Text returns the text of an error without the name of its package, if its type knows that.
func Text(err error) string {
	if e, ok := err.(interface{ Text() string }); ok {
		return e.Text()
	}
	return err.Error()
}

// In returns an error of the same kind that also says where, such as "layer 3".
func In(err error, where string, args ...any) error {
	kind, reason := split(err)
	if kind == nil {
		return fmt.Errorf("%w, in %s", reason, fmt.Sprintf(where, args...))
	}
	return failure{kind, fmt.Errorf("%w, in %s", reason, fmt.Sprintf(where, args...))}
}

// As returns an error of another kind, for the reason of err if that has a kind.
func As(kind, err error) error {
	_, reason := split(err)
	return failure{kind, reason}
}

// split returns the kind and the reason of a failure, or no kind.
func split(err error) (kind, reason error) {
	var f interface {
		Text() string
		Unwrap() []error
	}
	if errors.As(err, &f) {
		if both := f.Unwrap(); len(both) == 2 {
			return both[0], both[1]
		}
	}
	return nil, err
}
