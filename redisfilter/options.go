package redisfilter

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/seed3447c163/bloom"
)

// An Option changes what Open would choose by itself.
type Option func(*options)

type options struct {
	bloom    []bloom.Option
	prefix   string
	ttl      time.Duration
	shards   int // 0: as many as the size asks for
	front    uint64
	replicas int
	wait     time.Duration
	progress func(done, total uint64)
	log      *slog.Logger
	err      error // an option that is none
}

// defaultFront is enough for 50 million keys at 1 %, and no burden to a process
// that talks to a server of its own.
const defaultFront = 64 << 20

func newOptions(opts []Option) options {
	o := options{front: defaultFront}
	for i, opt := range opts {
		if opt == nil {
			o.err = fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
			break
		}
		opt(&o)
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o *options) validate() error {
	switch {
	case o.err != nil:
		return o.err
	case o.ttl < 0 || o.ttl > 0 && o.ttl < time.Second:
		return fmt.Errorf("%w: TTL %v, want at least 1s, or 0 for none", bloom.ErrInvalid, o.ttl)
	case o.shards < 0 || o.shards > maxShards:
		return fmt.Errorf("%w: %d shards, want 1 to %d, or 0 for as many as the size asks for", bloom.ErrInvalid, o.shards, maxShards)
	}
	return nil
}

// WithBloom passes options on to bloom.New: strategy, hash, seed or secret key.
// They are part of what all users of a filter must agree on. bloom.MapHash is
// refused, because its digests mean nothing outside one process, and so is a strategy
// without a name.
func WithBloom(opts ...bloom.Option) Option {
	return func(o *options) { o.bloom = append(o.bloom, opts...) }
}

// WithPrefix puts a text before the names of all of the filter's keys in Redis: the
// application's, where several share a server.
func WithPrefix(prefix string) Option {
	return func(o *options) { o.prefix = prefix }
}

// WithTTL lets the filter expire d after it was made, by the server's clock. It
// is for the process that makes the filter; those that join it do not change it, and
// adding keys does not extend it. The default is never. At least a second.
func WithTTL(d time.Duration) Option {
	return func(o *options) { o.ttl = d }
}

// WithShards spreads the filter over this many keys, and so, in a cluster, over
// its nodes; each element is in one of them. All users of a filter must choose the
// same number. The default, 0, is one for each 30 MiB: larger keys
// block the server for tens of milliseconds when they are made or united.
func WithShards(shards int) Option {
	return func(o *options) { o.shards = shards }
}

// WithFront limits the memory that the local front filter may take; 0 turns it off.
// The default is 64 MiB; a filter with more bits than that has no front.
//
// The front is a copy of those bits that replies have shown to be set. A key
// whose bits are all there is answered without asking the server, with the very
// answer that the server would give. A stream with many duplicates needs hardly
// any round trips.
func WithFront(maxBytes uint64) Option {
	return func(o *options) { o.front = maxBytes }
}

// WithWait makes an add return only when this many replicas have confirmed it, or
// with ErrReplicas after the timeout: what has been confirmed survives a failover.
// It costs an add the replicas' round trip. The timeout must be shorter than the
// client's ReadTimeout. For clients of a single server, Sentinel and Cluster.
//
// It is for Add and AddMany alone. What Open, Reopen, Push and Merge do may be lost in a
// failover that comes right after them: the filter is then gone, or the one before.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}

// WithProgress calls report during Push, Merge and Pull, with the bytes
// transferred so far and in all, first with 0 and last with done = total.
func WithProgress(report func(done, total uint64)) Option {
	return func(o *options) { o.progress = report }
}

// WithLogger logs what changes a filter as a whole: made, joined, lost, reopened,
// pushed, merged, pulled, deleted. The default is silence.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) { o.log = log }
}
