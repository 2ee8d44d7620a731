package redisfilter

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Filter is a Bloom filter in Redis, shared by any number of processes and
// machines. Make or join one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	name   string
	key    string       // of the first shard
	scheme bloom.Scheme // of each shard
	params bloom.Params // of the whole
	opts   options
	log    *slog.Logger
	sender send.Sender
	counts send.Counters

	k      int
	m      uint64 // of each shard
	layout layout
	shards []*shard

	byWords   bool // a lookup reads words, not bits
	script    int  // words of a key that the script for adds is made for, 0 for none
	noScripts atomic.Bool

	adds, asks gather
}

// Open makes the filter of this name, for n different keys at a false-positive
// rate of at most p, or joins it if it is there. It is one Redis key, from 30 MiB on
// several, see [WithShards]. All processes that open a filter must name the same n
// and p (or others that lead to the same size), strategy, hash and shards.
//
// The error wraps bloom.ErrInvalid for parameters that bloom.New refuses and for a
// client that cannot serve, bloom.ErrTooLarge for a filter that Redis cannot hold,
// and [ErrMismatch] if there is something else under the name. What is there is
// never changed then.
//
// The client stays the caller's, who closes it. It must read where it writes: one that
// reads from replicas misses keys that were added a moment ago. A cluster client that
// does is refused; a Sentinel client with ReplicaOnly cannot be told from another and
// must not be used. A Ring, which goes on at another server, without the keys, when one
// does not answer, is refused.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) (*Filter, error) {
	f, err := newFilter(client, name, newOptions(opts))
	if err != nil {
		return nil, err
	}
	if err := f.open(ctx, n, p, true); err != nil {
		return nil, err
	}
	return f, nil
}

// Join opens the filter of this name with the n, the p and the shards that it was made
// with, and with its strategy and hash if those are of package bloom; a seed or a secret key must
// be named. It makes nothing: the error wraps [ErrLost] if there is no filter or a part of it is
// missing, and is otherwise as that of [Open].
func Join(ctx context.Context, client redis.UniversalClient, name string, opts ...Option) (*Filter, error) {
	f, err := newFilter(client, name, newOptions(opts))
	if err != nil {
		return nil, err
	}
	head, err := f.sender.GetRange(ctx, f.key, 0, headerBytes-1)
	if err != nil {
		return nil, err
	}
	if head == "" || isOrphan([]byte(head)) {
		return nil, fmt.Errorf("%w: key %q: there is none: Open makes it", ErrLost, f.key)
	}
	h, ok := decodeHeader([]byte(head))
	if !ok {
		return nil, errForeign(f.key)
	}
	if f.opts.shards == 0 {
		f.opts.shards = h.shards
	}
	f.opts.bloom = h.named(f.opts.bloom)
	if err := f.open(ctx, h.n, h.p, false); err != nil {
		return nil, err
	}
	return f, nil
}

// newFilter checks what does not depend on n and p.
func newFilter(client redis.UniversalClient, name string, o options) (*Filter, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("%w: empty name, want one for a Redis key", bloom.ErrInvalid)
	}
	if err := checkKey(o.prefix + name); err != nil {
		return nil, err
	}
	sender, err := send.New(client, o.replicas, o.wait)
	if err != nil {
		return nil, err
	}
	return &Filter{name: name, key: o.prefix + name, opts: o, log: o.log, sender: sender}, nil
}

// open sizes the filter, and joins its shards, or makes them if mayMake is set.
func (f *Filter) open(ctx context.Context, n uint64, p float64, mayMake bool) error {
	scheme, shards, err := layoutFor(n, p, f.opts.shards, f.opts.bloom)
	if err != nil {
		return err
	}
	f.scheme = scheme
	f.k, f.m, f.layout = scheme.Params().K, scheme.Params().M, layoutOf(scheme.SizeBytes())
	f.params = bloom.Params{N: n, P: p, M: f.m * uint64(shards), K: f.k}
	f.script, f.byWords = scriptWords(scheme)
	f.adds.init(f, true)
	f.asks.init(f, false)
	for _, key := range shardNames(f.key, shards) {
		f.shards = append(f.shards, &shard{name: key})
	}
	return f.join(ctx, mayMake)
}

// Params returns what the filter was opened with: n, p, the bits of all shards
// together, and the bits that belong to a key.
func (f *Filter) Params() bloom.Params { return f.params }

// Keys returns the names of the filter's keys in Redis, one for each shard.
func (f *Filter) Keys() []string {
	names := make([]string, len(f.shards))
	for i, s := range f.shards {
		names[i] = s.name
	}
	return names
}

// expires returns when the filter expires, or the zero time if it does not.
func (f *Filter) expires() time.Time { return f.shards[0].life.Load().expires }

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("redisfilter.Filter(%q n=%d p=%g m=%d k=%d strategy=%s shards=%d)",
		f.name, f.params.N, f.params.P, f.params.M, f.params.K, f.scheme.Strategy(), len(f.shards))
}
