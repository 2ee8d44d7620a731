package redisfilter

import (
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// An Option changes a default of [Open].
type Option func(*options)

type options struct {
	bloom       []bloom.Option
	ttl         time.Duration
	shards      int // 0 to choose by size
	cache       uint64
	replicas    int
	wait        time.Duration
	growth      bool
	windowed    bool
	length      time.Duration // of a generation
	generations int
}

// defaultCache is in bytes. It suffices for 50 million keys at p = 1 %.
const defaultCache = 64 << 20

const (
	maxGenerations  = 16                     // lookups read one generation more
	leastGeneration = 100 * time.Millisecond // many round trips, so that adds rarely arrive after their generation
)

func newOptions(opts []Option) (options, error) {
	o := options{cache: defaultCache}
	for i, opt := range opts {
		if opt == nil {
			return o, send.Errorf(bloom.ErrInvalid, "option %d of %d is nil", i+1, len(opts))
		}
		opt(&o)
	}
	switch {
	case o.ttl < 0 || o.ttl > 0 && o.ttl < time.Second:
		return o, send.Errorf(bloom.ErrInvalid, "TTL %v, want at least 1s, or 0 for none", o.ttl)
	case o.shards < 0 || o.shards > maxShards:
		return o, send.Errorf(bloom.ErrInvalid, "%d shards, want 1 to %d, or 0 to choose by size", o.shards, maxShards)
	case o.growth && o.windowed:
		return o, send.Errorf(bloom.ErrInvalid, "WithGrowth and WithGenerations, want one of them")
	case o.windowed && (o.generations < 1 || o.generations > maxGenerations):
		return o, send.Errorf(bloom.ErrInvalid, "%d generations, want 1 to %d", o.generations, maxGenerations)
	case o.windowed && o.length < leastGeneration:
		return o, send.Errorf(bloom.ErrInvalid, "generations of %v, want at least %v", o.length, leastGeneration)
	}
	return o, nil
}

// millis returns the length of a generation in milliseconds, rounded up, or 0 without a window.
func (o *options) millis() int64 {
	if !o.windowed {
		return 0
	}
	return min(int64((o.length-1)/time.Millisecond)+1, int64(math.MaxInt64/time.Millisecond))
}

// WithBloom passes options to package bloom: hash, seed, secret or memory limit. All processes that open a filter must
// pass the same hash, seed and secret. bloom.MapHash is refused, because it differs in every process. The only strategy
// is bloom.Blocked. [bloom.WithMaxBytes] limits the whole filter; adds to a growing filter return [bloom.ErrFull] at
// the limit.
func WithBloom(opts ...bloom.Option) Option {
	return func(o *options) { o.bloom = append(o.bloom, opts...) }
}

// WithTTL makes the filter expire d after its creation, by the server's clock. Adds do not extend its life. If an add
// creates an expired filter again, the new filter expires after d, too. The default is no expiry; the least d is one
// second.
func WithTTL(d time.Duration) Option {
	return func(o *options) { o.ttl = d }
}

// WithShards divides the filter into this many keys in Redis. A cluster spreads them over its nodes. All users of a
// filter must pass the same number. The default, 0, is one shard per 30 MiB: making a larger value blocks the server
// for tens of milliseconds.
func WithShards(shards int) Option {
	return func(o *options) { o.shards = shards }
}

// WithGrowth makes a filter that grows after n keys. Its rate is at most p for any number of keys. Each new layer is
// for twice as many keys as the one before, with a lower rate. Lookups and adds read all layers: one if n was right,
// four if n was ten times too small.
//
// Adds of new keys return [bloom.ErrFull] if the next layer would exceed [bloom.WithMaxBytes], make a shard larger than
// 512 MiB, or have a rate below 1e-12.
//
// Adding a layer blocks the server for 0.6 ms per MiB of a shard. So the default is many shards: one per 64 KiB of the
// first layers, up to 32, or one per 2 MiB if that is more. With them, adding a layer blocks the server for at most 5
// ms while the filter has at most 256 MiB and 60 n keys. With fewer shards, batches take less time.
func WithGrowth() Option {
	return func(o *options) { o.growth = true }
}

// WithGenerations makes a filter that forgets keys. A generation has the duration length, and n is the number of keys
// per generation. The filter remembers a key until the end of the generation of its add, and for count further
// generations. This takes at least count·length, the window, and at most one length more: 24 to 36 hours for
// (12*time.Hour, 2). length is at least 100 ms, and is rounded up to whole milliseconds. count is 1 to 16; 2 is a good
// choice. Lookups and adds read count+1 generations.
//
// The rate is at most p for any number of keys. If a generation has n keys, adds of new keys return [bloom.ErrFull]
// until the next generation begins. Keys are not evenly distributed, so each shard has room for its share of n and six
// standard deviations. So it is very unlikely that a shard is full before the generation has n keys. Adding a key that
// is remembered does not renew it.
//
// The server's clock decides. An add forgets the keys whose window has ended by that clock. A lookup returns false for
// such a key only after an add has forgotten it, or if the clock has passed the end of the key's window since the last
// add. If the clock goes back, nothing is forgotten until it has caught up, for one window at most. If it jumps ahead,
// keys are forgotten earlier.
func WithGenerations(length time.Duration, count int) Option {
	return func(o *options) { o.windowed, o.length, o.generations = true, length, count }
}

// WithCache limits the memory of the local cache; 0 disables it. The default is 64 MiB. A filter whose bits take more
// than maxBytes, a growing filter, and a filter with a window have no cache.
//
// The cache has the bits of keys that this handle has added. For a second after the server has confirmed a key of the
// cache, a call needs no round trip if all bits of its key are in the cache. After that second, the next call for a key
// of the cache goes to the server, and returns [ErrLost] if the server has forgotten the key. With [WithWait], the
// cache has only keys that replicas have confirmed.
func WithCache(maxBytes uint64) Option {
	return func(o *options) { o.cache = maxBytes }
}

// WithWait lets Add and AddMany wait until this many replicas have confirmed an add. After the timeout, they return an
// error that lists the new keys as unsure. Keys that were not new may be unconfirmed, too, and are not listed. A
// confirmed key survives a failover if all replicas that may be promoted have confirmed it. While fewer replicas are
// connected, each add takes the whole timeout. The timeout must be shorter than the client's ReadTimeout.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}
