// Package identity decides whether processes mean the same scheme.
package identity

import (
	"errors"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// Check refuses schemes whose positions may differ between processes. The error wraps
// bloom.ErrInvalid.
func Check(s bloom.Scheme) error {
	err := s.Portable()
	if errors.Is(err, bloom.ErrNotPortable) {
		return format.As(bloom.ErrInvalid, err)
	}
	return err
}

// Estimate returns the number of keys that set so many of m bits, rounded or math.MaxUint64, and the
// false-positive rate after them.
func Estimate(s bloom.Strategy, m uint64, k int, ones uint64) (keys float64, rate float64) {
	keys = math.Round(s.EstimatedN(m, k, min(ones, m)))
	if keys >= math.MaxUint64 {
		return math.MaxUint64, 1
	}
	return keys, s.FalsePositiveRate(m, k, uint64(keys))
}

// Whole returns a count as an integer.
func Whole(count float64) uint64 {
	if count >= math.MaxUint64 {
		return math.MaxUint64
	}
	return uint64(math.Round(count))
}
