package parquet

import (
	"log/slog"

	"github.com/seed3447c163/bloom/internal/opaque"
)

// A Column knows more than its fields say. So encoders, which see the fields only, are refused.

// LogValue is String, for package log/slog.
func (c Column) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns an error that wraps errors.ErrUnsupported, also to encoding/json: store the fields.
func (c Column) MarshalText() ([]byte, error) { return nil, opaque.Refused("text", "its fields") }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (c Column) MarshalBinary() ([]byte, error) { return nil, opaque.Refused("binary", "its fields") }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (c Column) MarshalBSONValue() (byte, []byte, error) {
	return 0, nil, opaque.Refused("BSON", "its fields")
}
