package redisfilter

import (
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
)

// An Option changes a choice of [Open].
type Option func(*options)

type options struct {
	bloom       []bloom.Option
	prefix      string
	ttl         time.Duration
	shards      int // 0: chosen by size
	front       uint64
	replicas    int
	wait        time.Duration
	growth      bool
	windowed    bool
	window      time.Duration
	generations int
}

// defaultFront is enough for 50 million keys at 1 %.
const defaultFront = 64 << 20

// maxGenerations bounds what a lookup reads.
const maxGenerations = 1000

func newOptions(opts []Option) (options, error) {
	o := options{front: defaultFront}
	for i, opt := range opts {
		if opt == nil {
			return o, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&o)
	}
	switch {
	case o.ttl < 0 || o.ttl > 0 && o.ttl < time.Second:
		return o, fmt.Errorf("%w: TTL %v, want at least 1s, or 0 for none", bloom.ErrInvalid, o.ttl)
	case o.shards < 0 || o.shards > maxShards:
		return o, fmt.Errorf("%w: %d shards, want 1 to %d, or 0 to choose by size", bloom.ErrInvalid, o.shards, maxShards)
	case o.growth && o.windowed:
		return o, fmt.Errorf("%w: WithGrowth and WithWindow, want one of them", bloom.ErrInvalid)
	case o.windowed && (o.generations < 1 || o.generations > maxGenerations):
		return o, fmt.Errorf("%w: %d generations, want 1 to %d", bloom.ErrInvalid, o.generations, maxGenerations)
	case o.windowed && o.window < time.Duration(o.generations)*time.Millisecond:
		return o, fmt.Errorf("%w: window %v, want at least 1ms for each of %d generations", bloom.ErrInvalid, o.window, o.generations)
	}
	return o, nil
}

// millis returns the length of a generation in milliseconds, rounded up, or 0 without a window.
func (o *options) millis() int64 {
	if !o.windowed {
		return 0
	}
	each := time.Duration(o.generations) * time.Millisecond
	return min(int64(o.window/each+min(o.window%each, 1)), int64(math.MaxInt64/time.Millisecond)/int64(o.generations))
}

// WithBloom passes options to package bloom: strategy, hash, seed or secret key. All processes that
// open a filter must agree on them. bloom.MapHash and strategies without a name are refused: their
// positions have no meaning outside one process. [bloom.WithMaxBytes] limits the whole filter; a
// growing filter returns [ErrFull] at the limit.
func WithBloom(opts ...bloom.Option) Option {
	return func(o *options) { o.bloom = append(o.bloom, opts...) }
}

// WithPrefix puts a text before the names of all keys of the filter in Redis.
func WithPrefix(prefix string) Option {
	return func(o *options) { o.prefix = prefix }
}

// WithTTL makes the filter expire d after it was made, by the server's clock. The header keeps d:
// a filter that is made anew after its expiry expires again, whoever makes it. Adding does not extend
// the life. The default is never; the least is one second.
func WithTTL(d time.Duration) Option {
	return func(o *options) { o.ttl = d }
}

// WithShards spreads the filter over this many keys in Redis, and so over the nodes of a cluster. All
// users of a filter must name the same number. The default, 0, is one shard per 30 MiB: larger
// values block the server for tens of milliseconds when they are made or merged.
func WithShards(shards int) Option {
	return func(o *options) { o.shards = shards }
}

// WithGrowth makes a filter that grows after n keys and whose rate is at most p for any number of
// keys. Each new layer is for twice as many keys as the one before, at a tighter rate. Lookups and
// adds read all layers.
func WithGrowth() Option {
	return func(o *options) { o.growth = true }
}

// WithWindow makes a filter that remembers each key for at least the window after it was added, and
// for at most one generation more. A generation is the window divided by generations, 1 to 1000,
// rounded up to whole milliseconds. The rate is at most p while no generation receives more than
// n divided by generations keys: if keys come in bursts, let n be generations times the largest
// number of keys in one generation. Adding a key that is remembered does not renew it.
//
// It needs one of the strategies Blocked1, Blocked2, Blocked4 and Blocked8.
func WithWindow(window time.Duration, generations int) Option {
	return func(o *options) { o.windowed, o.window, o.generations = true, window, generations }
}

// WithFront limits the memory of the local front filter; 0 turns it off. The default is 64 MiB. A
// filter with more bits than that, a growing one and one with a window have no front.
//
// The front is a copy of the bits that replies have shown to be set. A key whose bits are all in the
// front is answered without asking the server, and with the server's answer.
func WithFront(maxBytes uint64) Option {
	return func(o *options) { o.front = maxBytes }
}

// WithWait makes an add return only when this many replicas have confirmed it, or with [ErrReplicas]
// after the timeout: a confirmed key survives a failover. The timeout must be shorter than the
// client's ReadTimeout. It concerns Add and AddMany on a single server, Sentinel or Cluster.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}
