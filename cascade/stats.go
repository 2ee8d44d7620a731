package cascade

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
)

// Levels returns the parameters of each level's filter: the first is of the keys that are
// in, the second of those that are out and pass the first, and so on.
func (c *Cascade) Levels() []bloom.Params {
	levels := make([]bloom.Params, len(c.filters))
	for i, f := range c.filters {
		levels[i] = f.Params()
	}
	return levels
}

// SizeBytes returns the memory that the bits of all levels take.
func (c *Cascade) SizeBytes() (bytes uint64) {
	for _, f := range c.filters {
		bytes += f.SizeBytes()
	}
	return bytes
}

// Stats returns what a service wants to watch, in O(m). N, P and K are those of the first
// level, EstimatedCount is its N: exactly the keys that are in. M, SizeBytes, Ones and FillRatio
// are of all levels together. EstimatedFalsePositiveRate is for keys that are in neither list; for
// the others it is 0.
func (c *Cascade) Stats() (s bloom.Stats) {
	wrong := 0.0
	if len(c.filters)%2 == 1 {
		wrong = 1 // for a key that all levels have
	}
	for i := len(c.filters) - 1; i >= 0; i-- {
		of := c.filters[i].Stats()
		s.N, s.P, s.K, s.Strategy, s.Hash, s.EstimatedCount = of.N, of.P, of.K, of.Strategy, of.Hash, of.N
		s.M += of.M
		s.SizeBytes += of.SizeBytes
		s.Ones += of.Ones
		wrong *= of.EstimatedFalsePositiveRate
		if i%2 == 1 {
			wrong += 1 - of.EstimatedFalsePositiveRate
		}
	}
	if s.M > 0 {
		s.FillRatio = float64(s.Ones) / float64(s.M)
	}
	s.EstimatedFalsePositiveRate = wrong
	return s
}

// String describes the cascade in a line for a log.
func (c *Cascade) String() string {
	if len(c.filters) == 0 {
		return "cascade of no levels"
	}
	var keys []string
	for _, f := range c.filters {
		keys = append(keys, fmt.Sprint(f.Params().N))
	}
	return fmt.Sprintf("cascade of %d levels for %s keys, %d bytes", len(c.filters), strings.Join(keys, ", "), c.SizeBytes())
}
