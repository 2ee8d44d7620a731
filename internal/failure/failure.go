// Package failure makes the module's errors. Each begins with the text of a sentinel that package bloom documents.
package failure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const prefix = "bloom: "

// The errors that package bloom documents. Other errors wrap them.
var (
	ErrInvalid      = errors.New(prefix + "invalid parameter")
	ErrTooLarge     = errors.New(prefix + "filter too large")
	ErrFull         = errors.New(prefix + "filter full")
	ErrIncompatible = errors.New(prefix + "incompatible filters")
	ErrNotPortable  = errors.New(prefix + "filter is not portable")
	ErrCorrupt      = errors.New(prefix + "corrupt data")
)

// Errorf returns an error of a kind.
func Errorf(kind error, text string, args ...any) error {
	return fmt.Errorf("%w: "+text, slices.Insert(args, 0, any(kind))...)
}

// Reading returns an error of a reader, for what was to be read.
func Reading(what string, err error) error { return fmt.Errorf(prefix+"reading %s: %w", what, err) }

// NoText returns the error of MarshalText for a kind that text cannot hold: it needs an option to be read back.
func NoText(kind, instead string) error {
	return fmt.Errorf(prefix+"%s has no text form: use %s", kind, instead)
}

// As returns an error of another kind with the text of err, without ErrInvalid's.
func As(kind, err error) error {
	return fmt.Errorf("%w: %s", kind, strings.TrimPrefix(err.Error(), ErrInvalid.Error()+": "))
}

// Text returns the text of an error without the name of its package. Another package puts its own name before it.
func Text(err error) string { return strings.TrimPrefix(err.Error(), prefix) }
