package send

import (
	"log/slog"

	"github.com/seed3447c163/bloom"
)

// LogValue is what slog writes of a filter's Info: its name, its statistics, and what else is known.
func LogValue(name string, s bloom.Stats, more ...slog.Attr) slog.Value {
	return slog.GroupValue(append([]slog.Attr{
		slog.String("name", name), slog.Uint64("n", s.N), slog.Float64("p", s.P), slog.Uint64("m", s.M), slog.Int("k", s.K),
		slog.String("strategy", s.Strategy), slog.String("hash", s.Hash), slog.Uint64("size_bytes", s.SizeBytes),
		slog.Uint64("ones", s.Ones), slog.Float64("fill_ratio", s.FillRatio), slog.Uint64("estimated_count", s.EstimatedCount),
		slog.Float64("estimated_false_positive_rate", s.EstimatedFalsePositiveRate),
	}, more...)...)
}
