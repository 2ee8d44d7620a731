package persist

import (
	"log/slog"

	"github.com/seed3447c163/bloom/internal/opaque"
)

// noEncoding makes the types of this package refuse encoders.
type noEncoding = opaque.Type

// LogValue is String, for package log/slog.
func (f *File) LogValue() slog.Value { return slog.StringValue(f.String()) }
