// Package opaque makes types refuse to be encoded.
package opaque

import (
	"errors"
	"fmt"
)

// A Type makes a struct that embeds it refuse all encoders. They would find no exported fields and write an empty
// value, without an error.
type Type struct{}

var errNoEncoding = fmt.Errorf("redisfilter: this type cannot be encoded: %w", errors.ErrUnsupported)

// MarshalText returns an error that wraps errors.ErrUnsupported.
func (Type) MarshalText() ([]byte, error) { return nil, errNoEncoding }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (Type) MarshalBinary() ([]byte, error) { return nil, errNoEncoding }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (Type) MarshalBSONValue() (byte, []byte, error) { return 0, nil, errNoEncoding }
