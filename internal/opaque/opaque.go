// Package opaque makes types refuse to be encoded.
package opaque

import (
	"errors"
	"fmt"
)

// A Type makes a struct that embeds it refuse all encoders. Encoders that look for exported fields would find none
// and write an empty value, without an error. Packages json, xml, yaml and toml call MarshalText, gob and CBOR
// call MarshalBinary, and BSON calls MarshalBSONValue.
type Type struct{}

const methods = "WriteTo and Read if it has these methods"

// MarshalText returns an error that wraps errors.ErrUnsupported.
func (Type) MarshalText() ([]byte, error) { return nil, Refused("text", methods) }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (Type) MarshalBinary() ([]byte, error) { return nil, Refused("binary", methods) }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (Type) MarshalBSONValue() (byte, []byte, error) { return 0, nil, Refused("BSON", methods) }

// Refused returns the error of an encoding that a type does not have, with what to use instead.
func Refused(encoding, want string) error {
	return fmt.Errorf("bloom: this type has no %s form, want %s: %w", encoding, want, errors.ErrUnsupported)
}
