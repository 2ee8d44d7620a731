package typed

import (
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom/internal/opaque"
)

// noEncoding makes the types of this package refuse encoders.
type noEncoding = opaque.Type

// String describes the filter and its set in a line for a log.
func (f *Filter[T]) String() string { return describe[T]("Filter", f.set) }

// LogValue is String, for package log/slog.
func (f *Filter[T]) LogValue() slog.Value { return slog.StringValue(f.String()) }

// String describes the filter and its set in a line for a log.
func (f *Growing[T]) String() string { return describe[T]("Growing", f.set) }

// LogValue is String, for package log/slog.
func (f *Growing[T]) LogValue() slog.Value { return slog.StringValue(f.String()) }

func describe[T any](name string, set any) string {
	if set == nil {
		return fmt.Sprintf("typed.%s(zero)", name)
	}
	return fmt.Sprintf("typed.%s(values=%T set=%v)", name, *new(T), set)
}
