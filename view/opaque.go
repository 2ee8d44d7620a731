package view

import (
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom/internal/opaque"
)

// noEncoding makes the types of this package refuse encoders.
type noEncoding = opaque.Type

// String describes the builder in a line for a log.
func (b *Builder) String() string {
	if b.meta == 0 {
		return "view.Builder(zero)"
	}
	return fmt.Sprintf("view.Builder(bits_per_key=%v strategy=%s hash=%s collected=%d)",
		b.bitsPerKey, b.scheme.Strategy(), b.scheme.Hash(), len(b.digests))
}

// LogValue is String, for package log/slog.
func (b *Builder) LogValue() slog.Value { return slog.StringValue(b.String()) }
