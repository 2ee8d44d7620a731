package guard

import (
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom/internal/opaque"
)

// noEncoding makes the types of this package refuse encoders.
type noEncoding = opaque.Type

// LogValue is String, for package log/slog.
func (g *Guard) LogValue() slog.Value { return slog.StringValue(g.String()) }

// String describes the list in a line for a log, in constant time.
func (l *List) String() string {
	f := l.filter.Load()
	if f == nil {
		return "guard.List(zero)"
	}
	return fmt.Sprintf("guard.List(path=%q filter=%v)", l.path, f)
}

// LogValue is String, for package log/slog.
func (l *List) LogValue() slog.Value { return slog.StringValue(l.String()) }
