package prombloom

import (
	"errors"
	"fmt"
	"log/slog"
)

// String describes the Collector in a line for a log.
func (c *Collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("prombloom.Collector(filters=%d interval=%v)", len(c.watched), c.interval)
}

// LogValue is String, for package log/slog.
func (c *Collector) LogValue() slog.Value { return slog.StringValue(c.String()) }

// A noEncoding makes a struct that embeds it refuse all encoders. They would find no exported fields and write an empty
// value, without an error.
type noEncoding struct{}

var errNoEncoding = fmt.Errorf("prombloom: a Collector cannot be encoded: %w", errors.ErrUnsupported)

// MarshalText returns an error that wraps errors.ErrUnsupported.
func (noEncoding) MarshalText() ([]byte, error) { return nil, errNoEncoding }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (noEncoding) MarshalBinary() ([]byte, error) { return nil, errNoEncoding }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (noEncoding) MarshalBSONValue() (byte, []byte, error) { return 0, nil, errNoEncoding }
