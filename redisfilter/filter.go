package redisfilter

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Filter is a Bloom filter in Redis that any number of processes and machines share. Make or join
// one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	name   string
	opts   options
	plan   *plan
	sender *send.Sender
	shards []*shard

	adds, lookups []group // of single keys, for each shard
}

// Params returns n, p, k, and m, the number of bits of all shards together (of the first layer, or
// of one generation).
func (f *Filter) Params() bloom.Params {
	params := f.plan.scheme.Params()
	return bloom.Params{N: f.plan.n, P: f.plan.p, M: params.M * uint64(f.plan.shards), K: params.K}
}

// Keys returns the names of the filter's keys in Redis, one per shard.
func (f *Filter) Keys() []string {
	names := make([]string, len(f.shards))
	for i, s := range f.shards {
		names[i] = s.name
	}
	return names
}

// SizeBytes returns the length of the values of all shards, with the layers that this handle has seen.
func (f *Filter) SizeBytes() (size uint64) {
	for _, s := range f.shards {
		layers, err := f.plan.mode.reading(s.value.Load().state.Load())
		if err == nil {
			size += layers[len(layers)-1].end + epochBytes
		}
	}
	return size
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("redisfilter.Filter(%q %v bytes=%d)", f.name, f.plan.header(0), f.SizeBytes())
}

// Counts tells what a filter has done since it was opened, for metrics. All counts only grow.
type Counts struct {
	RoundTrips uint64 // waits for the server: a command, or a pipeline for several shards
	Keys       uint64 // keys that the server was asked for or that were sent to be added
	CacheHits  uint64 // keys that the cache knew
	Bytes      uint64 // bytes sent in adds and lookups, to within some percent
	Lost       uint64 // losses noticed, see ErrLost: each shard and incarnation once
	Unknown    uint64 // keys of adds without an answer, see ErrUnknown
}

// Counts returns the counts up to now.
func (f *Filter) Counts() Counts {
	c := &f.sender.Counts
	return Counts{
		RoundTrips: c.RoundTrips.Load(), Keys: c.Keys.Load(), CacheHits: c.CacheHits.Load(),
		Bytes: c.Bytes.Load(), Lost: c.Lost.Load(), Unknown: c.Unknown.Load(),
	}
}

// Metrics returns the counts by name, for package prombloom.
func (f *Filter) Metrics() map[string]float64 {
	c := f.Counts()
	return map[string]float64{
		"redis_round_trips": float64(c.RoundTrips), "redis_keys": float64(c.Keys), "redis_cache_hits": float64(c.CacheHits),
		"redis_bytes": float64(c.Bytes), "redis_lost": float64(c.Lost), "redis_unknown": float64(c.Unknown),
	}
}

// count counts the keys and bytes of a command.
func (f *Filter) count(keys, bytes int) {
	f.sender.Counts.Keys.Add(uint64(keys))
	f.sender.Counts.Bytes.Add(uint64(bytes))
}
