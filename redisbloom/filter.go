package redisbloom

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// A Filter is a Bloom filter in Redis, shared by any number of processes and
// machines. Make or join one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	name   string
	scheme bloom.Scheme // of each shard
	params bloom.Params // of the whole
	opts   options
	log    *slog.Logger
	store
}

// Open makes the filter of this name, for n different keys at a false-positive
// rate of at most p, or joins it if it is there. It is one Redis key, from 32 MiB on
// several, see [WithShards]. Whoever opens a filter must name the same n and p (or
// others that lead to the same size), strategy, hash and shards.
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
	o := newOptions(opts)
	if err := o.validate(); err != nil {
		return nil, err
	}
	sender, err := send.New(client, o.replicas, o.wait)
	if err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	scheme, shards, err := layoutFor(n, p, o.shards, o.bloom)
	if err != nil {
		return nil, err
	}
	f := &Filter{name: name, scheme: scheme, opts: o, log: o.log}
	f.params = bloom.Params{N: n, P: p, M: scheme.Params().M * uint64(shards), K: scheme.Params().K}
	f.store = store{
		sender: sender, positions: scheme, k: scheme.Params().K, m: scheme.Params().M, header: true,
		onLost: f.onLost,
	}
	for _, key := range shardNames(name, shards) {
		f.shards = append(f.shards, &shard{name: key})
	}
	if err := f.join(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// Add adds a key. It returns true if the key is definitely new and this call is the
// one that added it, false if it was probably there already. Of any number of
// processes that add the same new key at the same time, exactly one gets true;
// unless adding other keys has set all its bits before, an ordinary false
// positive, and then none does.
//
// An add is sent at most once. If no answer comes, the key may or may not be in
// the filter: the error then wraps [ErrUnknown], and [AddError] says what to do.
// It wraps [ErrLost] if the filter is gone. One round trip, or none if the front
// filter knows the key, see [WithFront].
func (f *Filter) Add(ctx context.Context, key []byte) (bool, error) {
	if f.knowsKey(key) {
		return false, nil
	}
	added, err := f.add(ctx, [][]byte{key})
	return added[0], err
}

// AddMany adds keys as [Filter.Add] does one after the other, in one round trip for
// each 500: added[i] says that keys[i] is definitely new. Of equal keys in
// one batch, the first is the new one.
//
// If the error is not nil, it is an [AddError], which says which keys have no
// answer; the answers of the others are valid.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte) (added []bool, err error) {
	return f.add(ctx, keys)
}

// Contains returns false if the key was definitely never added, true if it
// probably was. The error wraps [ErrLost] if the filter is gone.
func (f *Filter) Contains(ctx context.Context, key []byte) (bool, error) {
	if f.knowsKey(key) {
		return true, nil
	}
	found, err := f.contains(ctx, [][]byte{key})
	if err != nil {
		return false, err
	}
	return found[0], nil
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other, in one
// round trip for each 500. After an error there are no answers.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte) (found []bool, err error) {
	return f.contains(ctx, keys)
}

// Name returns the name that the filter was opened with.
func (f *Filter) Name() string { return f.name }

// Params returns what the filter was opened with: n, p, the bits of all shards
// together, and the bits that belong to a key.
func (f *Filter) Params() bloom.Params { return f.params }

// Shards returns over how many keys the filter is spread.
func (f *Filter) Shards() int { return len(f.shards) }

// Keys returns the names of the filter's keys in Redis.
func (f *Filter) Keys() []string { return shardNames(f.name, len(f.shards)) }

// Expires returns when the filter expires, or the zero time if it does not: as it was
// when the filter was made or pushed. What an operator has changed by EXPIRE or PERSIST
// since then is not seen.
func (f *Filter) Expires() time.Time { return f.shards[0].life.Load().expires }

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("redisbloom.Filter(%q n=%d p=%g m=%d k=%d strategy=%s shards=%d)",
		f.name, f.params.N, f.params.P, f.params.M, f.params.K, f.scheme.Strategy(), len(f.shards))
}
