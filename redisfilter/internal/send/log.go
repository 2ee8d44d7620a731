package send

import (
	"log/slog"

	"github.com/seed3447c163/bloom"
)

// LogValue is what slog writes of a filter's Info: its name, its statistics, and what else is known.
func LogValue(name string, stats bloom.Stats, more ...slog.Attr) slog.Value {
	attrs := append([]slog.Attr{slog.String("name", name)}, stats.LogValue().Group()...)
	return slog.GroupValue(append(attrs, more...)...)
}
