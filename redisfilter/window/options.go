package window

import (
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

// An Option changes what Open would choose by itself.
type Option func(*options)

type options struct {
	bloom    []bloom.Option
	prefix   string
	replicas int
	wait     time.Duration
	clock    string // of the scripts: for tests
}

// WithBloom passes options on to the filters of the generations: hash, seed or secret key, and one
// of the strategies Blocked1, Blocked2, Blocked4 and Blocked8. All processes that open the filter
// must agree on them. [bloom.WithMaxBytes] limits what the whole value takes.
func WithBloom(opts ...bloom.Option) Option {
	return func(o *options) { o.bloom = append(o.bloom, opts...) }
}

// WithPrefix puts a text before the name of the filter's key in Redis: the application's, where
// several share a server.
func WithPrefix(prefix string) Option {
	return func(o *options) { o.prefix = prefix }
}

// WithWait makes an add return only when this many replicas have confirmed it, or with
// [redisfilter.ErrReplicas] after the timeout, as the option of that name in package
// redisfilter does. The timeout must be shorter than the client's ReadTimeout.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}

func newOptions(opts []Option) (options, error) {
	o := options{clock: serverClock}
	for i, opt := range opts {
		if opt == nil {
			return o, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&o)
	}
	return o, nil
}

// maxGenerations is more than anyone should want: a lookup asks each.
const maxGenerations = 1000

// A plan is what a filter is to keep, and what follows from it.
type plan struct {
	n           uint64
	p           float64
	window      time.Duration
	generations int
}

func (p plan) validate() error {
	switch {
	case p.generations < 1 || p.generations > maxGenerations:
		return fmt.Errorf("%w: generations = %d, want 1 to %d", bloom.ErrInvalid, p.generations, maxGenerations)
	case p.window < time.Duration(p.generations)*time.Millisecond:
		return fmt.Errorf("%w: window = %v, want at least 1ms for each of %d generations", bloom.ErrInvalid, p.window, p.generations)
	case p.millis() > longestMillis(p.generations):
		return fmt.Errorf("%w: window = %v, want some milliseconds less, to round up", bloom.ErrInvalid, p.window)
	case !(p.p > 0 && p.p < 1):
		return fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p.p)
	}
	return nil
}

// longestMillis returns how long a generation can be for so many to be a time.Duration.
func longestMillis(generations int) int64 {
	return int64(math.MaxInt64/time.Millisecond) / int64(generations)
}

// millis returns how long a generation is, in milliseconds: rounded up, so that all of them
// together are no shorter than the window.
func (p plan) millis() int64 {
	each := time.Duration(p.generations) * time.Millisecond
	return int64(p.window/each + min(p.window%each, 1))
}

// scheme returns that of a generation. One more of them than in the window may be asked, and
// all must not err at more than p together.
func (p plan) scheme(opts []bloom.Option) (bloom.Scheme, error) {
	g := uint64(p.generations)
	rate := p.p / float64(p.generations+1)
	s, err := bloom.NewScheme(p.n/g+min(p.n%g, 1), rate, append([]bloom.Option{bloom.WithStrategy(identity.DefaultStrategy(rate, bloom.Blocked8))}, opts...)...)
	if err != nil { // which names the generation's n and p
		return s, fmt.Errorf("%w, in each of %d generations of a filter for n = %d keys at p = %v", err, g, p.n, p.p)
	}
	return s, identity.Check(s)
}
