package redisfilter

import (
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom"
)

// A Filter is a Bloom filter in Redis that any number of processes and machines share. Make or join
// one with [Open]. Methods of the zero Filter panic, except String and LogValue.
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	joined        *handle // nil in the zero Filter
	adds, lookups []queue // queues of single keys, one per shard
}

// handle returns the handle. It panics for the zero Filter.
func (f *Filter) handle() *handle {
	if f.joined == nil {
		panic("redisfilter: use of the zero Filter: make one by Open or Join")
	}
	return f.joined
}

// Params returns n, p, m and k. m is the number of bits of all shards together, in the first layer or in one
// generation.
func (f *Filter) Params() bloom.Params {
	plan := f.handle().plan
	params := plan.scheme.Params()
	return bloom.Params{N: plan.n, P: plan.p, M: params.M * uint64(plan.shards), K: params.K}
}

// Metrics returns counters of this handle since it was opened, for package prombloom and for logs:
//
//   - redis_round_trips: round trips; commands sent to several shards at once count as one
//   - redis_keys: keys that were sent to be added or looked up
//   - redis_cache_hits: keys that the cache knew
//   - redis_lost: losses noticed, see [ErrLost]; a loss counts once for each shard
//   - redis_unsure: keys listed in the Unsure of an [AddError]
func (f *Filter) Metrics() map[string]float64 {
	c := &f.handle().sender.Counts
	return map[string]float64{
		"redis_round_trips": float64(c.RoundTrips.Load()), "redis_keys": float64(c.Keys.Load()),
		"redis_cache_hits": float64(c.CacheHits.Load()),
		"redis_lost":       float64(c.Lost.Load()), "redis_unsure": float64(c.Unsure.Load()),
	}
}

// String describes the filter in a line for a log, without a round trip.
func (f *Filter) String() string {
	if f.joined == nil {
		return "redisfilter.Filter(zero)"
	}
	plan := f.joined.plan
	return fmt.Sprintf("redisfilter.Filter(key=%q n=%d p=%g shards=%d %v)", f.joined.shards[0].name, plan.n, plan.p, plan.shards, plan.scheme)
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }
