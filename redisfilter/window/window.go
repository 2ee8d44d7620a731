package window

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// A Filter is a set of keys in Redis that remembers each for a window of time. Make or join
// one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines. A Filter has up to 8 adds
// under way at a time; others wait for one of them.
type Filter struct {
	name    string
	key     *onekey.Key
	plan    plan
	scheme  bloom.Scheme // of a generation
	words   int
	layout  layout
	header  header // all but the epoch
	clock   string // of the scripts
	scripts scripts
	life    atomic.Pointer[life]
}

var _ redisfilter.Set = (*Filter)(nil)

// Open makes the filter of this name, or joins it if it is there. It remembers a key for at
// least the window, and for at most one generation longer: the window divided by generations,
// 1 to 1000, rounded up to whole milliseconds, of which there must be one at least. More
// generations forget more exactly; each costs a lookup some time and all together n keys'
// memory once and one generation's more. All processes that open a filter must name the same n, p (or
// others that lead to the same size), window, generations, strategy and hash.
//
// The false-positive rate is at most p while no generation gets more than n divided by
// generations different keys. Bursts break it: all n keys in one of four generations have been
// seen to err at 9 % where p was 1 %. Where they are to be expected, let n be
// generations times the most keys that come in one generation.
//
// The filter is one Redis key without a TTL. Making it takes the server some 0.3 ms for each
// MiB.
//
// The error wraps [bloom.ErrInvalid] for parameters out of range, a strategy that is none of
// the Blocked ones, and a client that cannot serve, as for [redisfilter.Open];
// [bloom.ErrTooLarge] for a filter of more than 512 MiB or [bloom.WithMaxBytes]; and
// [redisfilter.ErrMismatch] if there is something else under the name. What is there is never
// changed then.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, window time.Duration, generations int, opts ...Option) (*Filter, error) {
	f, o, err := newFilter(client, name, opts)
	if err != nil {
		return nil, err
	}
	if err := f.size(plan{n, p, window, generations}, o.bloom); err != nil {
		return nil, err
	}
	if err := f.Reopen(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// Join opens the filter of this name with the n, the p, the window and the generations that it
// was made with, and with its strategy and hash; a seed, a secret key or a hash of your own must
// be named. It makes nothing: the error wraps [redisfilter.ErrLost] if there is no filter, and is
// otherwise as that of [Open].
func Join(ctx context.Context, client redis.UniversalClient, name string, opts ...Option) (*Filter, error) {
	f, o, err := newFilter(client, name, opts)
	if err != nil {
		return nil, err
	}
	head, err := f.key.Read(ctx, 0, headerBytes)
	if err != nil {
		return nil, err
	}
	if head == "" {
		return nil, f.key.Missing()
	}
	h, ok := decodeHeader([]byte(head))
	if !ok {
		return nil, f.key.Foreign()
	}
	o.bloom = onekey.Named(h.text, o.bloom)
	if err := f.size(plan{h.n, h.p, h.window(), h.generations}, o.bloom); err != nil {
		return nil, err
	}
	if err := f.join(ctx, head); err != nil {
		return nil, err
	}
	return f, nil
}

// newFilter checks what does not depend on the plan.
func newFilter(client redis.UniversalClient, name string, opts []Option) (*Filter, options, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, o, err
	}
	key, err := onekey.New("redisfilter/window", commands, client, o.prefix, name, o.replicas, o.wait)
	return &Filter{name: name, key: key, clock: o.clock}, o, err
}

// size plans what does not depend on the value in Redis.
func (f *Filter) size(p plan, opts []bloom.Option) error {
	var err error
	if err = p.validate(); err != nil {
		return err
	}
	f.plan = p
	if f.scheme, err = p.scheme(opts); err != nil {
		return err
	}
	if f.words, err = onekey.Words(f.scheme); err != nil {
		return err
	}
	m := f.scheme.Params().M
	if f.layout, err = layoutOf((m+511)/512, p.generations); err != nil {
		return err
	}
	if limit := bloom.MaxBytes(opts...); f.layout.length > limit {
		return fmt.Errorf("%w: %d bytes, want at most %d", bloom.ErrTooLarge, f.layout.length, limit)
	}
	f.scripts = newScripts(p.generations, f.words, f.clock)
	f.header = header{
		generations: p.generations, slots: f.layout.slots, fingerprint: fingerprintOf(f.scheme, p.generations, p.millis()),
		n: p.n, p: p.p, m: m, millis: p.millis(), k: f.scheme.Params().K, text: identity.Text(f.scheme, headerBytes-textAt),
	}
	return nil
}

// SizeBytes returns what the value takes in Redis.
func (f *Filter) SizeBytes() uint64 { return f.layout.length }

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("window.Filter(%q n=%d p=%g window=%v generations=%d strategy=%s bytes=%d)",
		f.name, f.plan.n, f.plan.p, f.plan.window, f.plan.generations, f.scheme.Strategy(), f.layout.length)
}
