// Package identity decides whether processes mean the same scheme.
package identity

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
)

// DefaultStrategy returns the strategy for a rate if the user names none, and last for rates below
// 1e-6.
//
// A lookup costs the server and the network the words that a key has bits in. Blocked2 has two and
// needs 7 % more memory than DoubleHashing at 1e-2, 36 % at 1e-4, 94 % at 1e-6; Blocked4 has four
// and needs 18 % more at 1e-4, 43 % at 1e-6, 62 % at 1e-7. The default costs at most half more memory.
func DefaultStrategy(p float64, last bloom.Strategy) bloom.Strategy {
	switch {
	case p >= 1e-4:
		return bloom.Blocked2
	case p >= 1e-6:
		return bloom.Blocked4
	}
	return last
}

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

// Text returns the names of the strategy and the hash for a header, cut off after room bytes.
func Text(s bloom.Scheme, room int) string {
	text := fmt.Sprintf("%q hash=%q", s.Strategy().Name(), s.Hash().Name())
	return text[:min(len(text), room)]
}

// builtIn are the strategies whose names Named knows.
var builtIn = []bloom.Strategy{
	bloom.DoubleHashing, bloom.SeededHashing, bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8, bloom.SplitBlock,
	guava.Mitz64, guava.Mitz32, bitsandblooms.Strategy,
}

// Named returns the options of a handle that joins a filter: those that the header's text names, then
// the caller's. The text names a built-in strategy, and a built-in hash unless the caller has a
// secret key, which has its own hash.
func Named(text string, opts []bloom.Option) []bloom.Option {
	var strategy, hash string
	_, _ = fmt.Sscanf(text, "%q hash=%q", &strategy, &hash) // a name that is cut off is none of these
	var named []bloom.Option
	for _, s := range builtIn {
		if s.Name() == strategy {
			named = append(named, bloom.WithStrategy(s))
		}
	}
	if hash == bloom.RapidHash.Name() && !keyed(opts) {
		named = append(named, bloom.WithHash(bloom.RapidHash))
	}
	return append(named, opts...)
}

// keyed reports whether a secret key is among the options.
func keyed(opts []bloom.Option) bool {
	s, err := bloom.NewScheme(1, 0.1, opts...)
	return err == nil && s.Keyed()
}
