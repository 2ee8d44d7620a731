package send

import "sync/atomic"

// Counts has the fields of redisfilter.Counts, which says what they mean.
type Counts struct{ RoundTrips, Keys, FrontHits, Bytes, Lost, Unknown uint64 }

// Counters count them.
type Counters struct{ RoundTrips, Keys, FrontHits, Bytes, Lost, Unknown atomic.Uint64 }

// EachCount calls yield with each count and its name, which package prombloom knows.
func (c *Counters) EachCount(yield func(name string, value float64)) {
	yield("redis_round_trips", float64(c.RoundTrips.Load()))
	yield("redis_keys", float64(c.Keys.Load()))
	yield("redis_front_hits", float64(c.FrontHits.Load()))
	yield("redis_bytes", float64(c.Bytes.Load()))
	yield("redis_lost", float64(c.Lost.Load()))
	yield("redis_unknown", float64(c.Unknown.Load()))
}

// Load returns the counts up to now.
func (c *Counters) Load() Counts {
	return Counts{
		RoundTrips: c.RoundTrips.Load(), Keys: c.Keys.Load(), FrontHits: c.FrontHits.Load(),
		Bytes: c.Bytes.Load(), Lost: c.Lost.Load(), Unknown: c.Unknown.Load(),
	}
}
