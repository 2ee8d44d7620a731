package growing

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom"
)

// An Option changes what Open would choose by itself.
type Option func(*options)

type options struct {
	bloom    []bloom.Option
	prefix   string
	ttl      time.Duration
	replicas int
	wait     time.Duration
}

// WithBloom passes options on to the layers: hash, seed or secret key, and one of the strategies
// Blocked1, Blocked2, Blocked4 and Blocked8. All processes that open the filter must agree on them.
// [bloom.WithMaxBytes] limits what the whole value takes: this handle does not make it larger,
// and does not open one that is. What others with another limit do later is not refused.
func WithBloom(opts ...bloom.Option) Option {
	return func(o *options) { o.bloom = append(o.bloom, opts...) }
}

// WithPrefix puts a text before the name of the filter's key in Redis: the application's, where
// several share a server.
func WithPrefix(prefix string) Option {
	return func(o *options) { o.prefix = prefix }
}

// WithTTL lets the filter expire d after it was made, by the server's clock. It is for
// the process that makes the filter; those that join it do not change it, and adding keys does not
// extend it. The default is never. At least a second.
func WithTTL(d time.Duration) Option {
	return func(o *options) { o.ttl = d }
}

// WithWait makes an add return only when this many replicas have confirmed it, or with
// [redisfilter.ErrReplicas] after the timeout, as the option of that name in package
// redisfilter does. The timeout must be shorter than the client's ReadTimeout.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}

func newOptions(opts []Option) (options, error) {
	var o options
	for i, opt := range opts {
		if opt == nil {
			return o, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&o)
	}
	if o.ttl < 0 || o.ttl > 0 && o.ttl < time.Second {
		return o, fmt.Errorf("%w: TTL %v, want at least 1s, or 0 for none", bloom.ErrInvalid, o.ttl)
	}
	return o, nil
}
