package redisfilter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Filter is a Bloom filter in Redis that any number of processes and machines share. Make or join
// one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	name    string
	opts    options
	plan    *plan
	scripts scripts
	sender  *send.Sender
	shards  []*shard
	closed  atomic.Bool
}

var errClosed = errors.New("redisfilter: the filter was closed")

// Open makes the filter of this name, for n different keys at a false-positive rate of at most p, or
// joins it if it is there. All processes that open a filter must name the same n and p (or others that
// lead to the same size), growth or window, strategy, hash and shards.
//
// The error wraps bloom.ErrInvalid for parameters that bloom.New refuses and for an unsuitable client,
// bloom.ErrTooLarge for a filter that Redis cannot hold, and [ErrMismatch] if the name holds
// something else, which is never changed.
//
// The caller closes the client. The client must read where it writes: one that reads from replicas
// misses keys that were just added. A cluster client that does so is refused; a Sentinel client with
// ReplicaOnly cannot be recognised and must not be used. A Ring, which continues at another
// server without the keys when one does not answer, is refused.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) (*Filter, error) {
	o, sender, err := checked(client, name, opts)
	if err != nil {
		return nil, err
	}
	return open(ctx, sender, name, n, p, o, true)
}

// Join opens the filter of this name with the n, p, shards, growth or window that it was made with, and
// with its strategy and hash if they are of this module; a seed, a secret key and a custom strategy or
// hash must be named. It makes nothing: the error wraps [ErrLost] if the filter or a part of it is
// missing. Other errors are those of [Open].
func Join(ctx context.Context, client redis.UniversalClient, name string, opts ...Option) (*Filter, error) {
	o, sender, err := checked(client, name, opts)
	if err != nil {
		return nil, err
	}
	key := o.prefix + name
	v, err := sender.Do(ctx, key, "GETRANGE", key, 0, headerBytes-1)
	if err != nil {
		return nil, send.Explain(key, err)
	}
	if v == "" {
		return nil, fmt.Errorf("%w: key %q: there is none: Open makes it", ErrLost, key)
	}
	h, err := decodeHeader(key, fmt.Sprint(v))
	if err != nil {
		return nil, err
	}
	if o, err = h.options(key, o); err != nil {
		return nil, err
	}
	return open(ctx, sender, name, h.n, h.p, o, false)
}

// checked checks the arguments that do not depend on the size.
func checked(client redis.UniversalClient, name string, opts []Option) (options, *send.Sender, error) {
	o, err := newOptions(opts)
	if err == nil {
		err = checkName(name)
	}
	if err == nil {
		err = checkName(o.prefix + name)
	}
	if err != nil {
		return o, nil, err
	}
	sender, err := send.New(client, o.replicas, o.wait)
	return o, sender, err
}

func open(ctx context.Context, sender *send.Sender, name string, n uint64, p float64, o options, mayMake bool) (*Filter, error) {
	plan, err := newPlan(n, p, o)
	if err != nil {
		return nil, err
	}
	f := &Filter{name: name, opts: o, plan: plan, scripts: newScripts(plan, clock), sender: sender}
	for i := range plan.shards {
		s := &shard{name: shardName(o.prefix+name, i, plan.shards)}
		s.adds = gather{filter: f, shard: s, add: true}
		s.asks = gather{filter: f, shard: s}
		f.shards = append(f.shards, s)
	}
	if err := f.join(ctx, mayMake); err != nil {
		return nil, err
	}
	return f, nil
}

// clock is luaClock, but in tests.
var clock = luaClock

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
		size += f.lengthOf(s.life.Load())
	}
	return size
}

// lengthOf returns the length of a shard's value.
func (f *Filter) lengthOf(l *life) uint64 {
	if !f.plan.growth {
		return f.plan.layout.length
	}
	return (*f.plan.layers.Load())[l.layers.Load()-1].end + epochBytes
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("redisfilter.Filter(%q %v bytes=%d)", f.name, f.plan.header(0), f.SizeBytes())
}

// Counts tells what a filter has done since it was opened, for metrics. All counts only grow.
type Counts struct {
	RoundTrips uint64 // waits for the server: a command, or a pipeline for several shards
	Keys       uint64 // keys that the server was asked for or that were sent to be added
	FrontHits  uint64 // keys that the front filter knew
	Bytes      uint64 // bytes sent in adds and lookups, to within some percent
	Lost       uint64 // losses noticed, see ErrLost: each shard and incarnation once
	Unknown    uint64 // keys of adds without an answer, see ErrUnknown
}

// Counts returns the counts up to now.
func (f *Filter) Counts() Counts {
	c := &f.sender.Counts
	return Counts{
		RoundTrips: c.RoundTrips.Load(), Keys: c.Keys.Load(), FrontHits: c.FrontHits.Load(),
		Bytes: c.Bytes.Load(), Lost: c.Lost.Load(), Unknown: c.Unknown.Load(),
	}
}

// EachCount calls yield with each count and its name, for package prombloom.
func (f *Filter) EachCount(yield func(name string, value float64)) {
	c := f.Counts()
	yield("redis_round_trips", float64(c.RoundTrips))
	yield("redis_keys", float64(c.Keys))
	yield("redis_front_hits", float64(c.FrontHits))
	yield("redis_bytes", float64(c.Bytes))
	yield("redis_lost", float64(c.Lost))
	yield("redis_unknown", float64(c.Unknown))
}
