package bf

import (
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom/redisfilter/internal/opaque"
)

// noEncoding makes the types of this package refuse encoders.
type noEncoding = opaque.Type

// String describes the filter in a line for a log. It asks no server.
func (f *Filter) String() string {
	if f.sender == nil {
		return "bf.Filter(zero)"
	}
	return fmt.Sprintf("bf.Filter(name=%q)", f.name)
}

// LogValue is String, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }
