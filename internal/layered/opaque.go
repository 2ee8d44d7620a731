package layered

import "github.com/seed3447c163/bloom/internal/opaque"

// MarshalBinary returns an error.
func (NoText) MarshalBinary() ([]byte, error) { return opaque.Type{}.MarshalBinary() }

// MarshalBSONValue returns an error.
func (NoText) MarshalBSONValue() (byte, []byte, error) { return opaque.Type{}.MarshalBSONValue() }
