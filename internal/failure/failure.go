// Package failure makes the module's errors. Each error's text begins with "bloom: ", mostly as part of a sentinel's
// text.
package failure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const prefix = "bloom: "

// The sentinel errors that package bloom documents.
var (
	ErrInvalid      = errors.New(prefix + "invalid parameter")
	ErrTooLarge     = errors.New(prefix + "filter too large")
	ErrFull         = errors.New(prefix + "filter full")
	ErrIncompatible = errors.New(prefix + "incompatible filters")
	ErrNotPortable  = errors.New(prefix + "filter is not portable")
	ErrCorrupt      = errors.New(prefix + "corrupt data")
)

// Errorf returns an error that wraps kind. Its text is kind's text followed by the formatted text.
func Errorf(kind error, text string, args ...any) error {
	return fmt.Errorf("%w: "+text, slices.Insert(args, 0, any(kind))...)
}

// Reading wraps an error of an io.Reader. what names the part of the data that was being read.
func Reading(what string, err error) error { return fmt.Errorf(prefix+"reading %s: %w", what, err) }

// NoText returns the error of MarshalText for a kind of filter that encoding/json could not read back, because that
// needs options. instead names the methods to use.
func NoText(kind, instead string) error {
	return fmt.Errorf(prefix+"%s has no text form: use %s", kind, instead)
}

// As returns an error that wraps kind and has the text of err, but does not wrap err. It drops the text of ErrInvalid.
func As(kind, err error) error {
	return fmt.Errorf("%w: %s", kind, strings.TrimPrefix(err.Error(), ErrInvalid.Error()+": "))
}

// Text returns the text of an error without the prefix "bloom: ", so that a package can add its own.
func Text(err error) string { return strings.TrimPrefix(err.Error(), prefix) }
