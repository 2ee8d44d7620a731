package redisfilter

// Counts is what a filter has done since it was opened, for metrics: all of them only
// grow.
type Counts struct {
	RoundTrips uint64 // waits for the server: each is one command, or one for each of some shards
	Keys       uint64 // that the server was asked for or to add
	FrontHits  uint64 // keys that the front filter knew, so that the server was not asked
	Bytes      uint64 // sent in adds and lookups, to within a few percent
	Lost       uint64 // losses noticed, see ErrLost: each shard and time once
	Unknown    uint64 // keys of adds without an answer, see ErrUnknown
}

// Counts returns what the filter has done up to now. It costs nothing worth naming.
func (f *Filter) Counts() Counts { return Counts(f.counts.Load()) }

// EachCount calls yield with each of the counts and its name: what package prombloom makes metrics
// of.
func (f *Filter) EachCount(yield func(name string, value float64)) { f.counts.EachCount(yield) }
