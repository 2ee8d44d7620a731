package send

import "sync/atomic"

// Counts has the fields of redisbloom.Counts, which says what they mean.
type Counts struct{ RoundTrips, Keys, FrontHits, Bytes, Lost, Unknown uint64 }

// Counters count them.
type Counters struct{ RoundTrips, Keys, FrontHits, Bytes, Lost, Unknown atomic.Uint64 }

// Load returns the counts up to now.
func (c *Counters) Load() Counts {
	return Counts{
		RoundTrips: c.RoundTrips.Load(), Keys: c.Keys.Load(), FrontHits: c.FrontHits.Load(),
		Bytes: c.Bytes.Load(), Lost: c.Lost.Load(), Unknown: c.Unknown.Load(),
	}
}
