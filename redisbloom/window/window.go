package window

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// A Filter is a set of keys in Redis that remembers each for a window of time. Make or join
// one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines. A Filter has up to 8 adds
// under way at a time; others wait for one of them.
type Filter struct {
	name    string
	plan    plan
	scheme  bloom.Scheme // of a generation
	words   int
	layout  layout
	header  header // all but the epoch
	sender  send.Sender
	scripts scripts
	life    atomic.Pointer[life]
}

// Open makes the filter of this name, or joins it if it is there. It remembers a key for at
// least the window, and for at most one generation longer: the window divided by generations,
// 1 to 1000, rounded up to whole milliseconds, of which there must be one at least. More
// generations forget more exactly; each costs a lookup some time and all together n keys'
// memory once and one generation's more. Whoever opens a filter must name the same n, p (or
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
// the Blocked ones, and a client that cannot serve, as for [redisbloom.Open];
// [bloom.ErrTooLarge] for a filter of more than 512 MiB or [bloom.WithMaxBytes]; and
// [redisbloom.ErrMismatch] if there is something else under the name. What is there is never
// changed then.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, window time.Duration, generations int, opts ...Option) (*Filter, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("%w: empty name, want one for a Redis key", bloom.ErrInvalid)
	}
	f := &Filter{name: name, plan: plan{n, p, window, generations}}
	if err := f.plan.validate(); err != nil {
		return nil, err
	}
	if f.sender, err = send.New(client, o.replicas, o.wait); err != nil {
		return nil, err
	}
	if f.scheme, err = f.plan.scheme(o.bloom); err != nil {
		return nil, err
	}
	m := f.scheme.Params().M
	if f.layout, err = layoutOf((m+511)/512, generations); err != nil {
		return nil, err
	}
	if limit := bloom.MaxBytes(o.bloom...); f.layout.length > limit {
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", bloom.ErrTooLarge, f.layout.length, limit)
	}
	f.words = wordsOf(f.scheme.Strategy())
	f.scripts = newScripts(generations, f.words, o.clock)
	_, text, _ := strings.Cut(f.scheme.Identity(), " strategy=")
	f.header = header{
		generations: generations, slots: f.layout.slots, fingerprint: fingerprintOf(f.scheme, generations, f.plan.millis()),
		n: n, p: p, m: m, millis: f.plan.millis(), k: f.scheme.Params().K, text: text[:min(len(text), headerBytes-textAt)],
	}
	return f, f.Reopen(ctx)
}

// Name returns the name that the filter was opened with, which is that of its key in Redis.
func (f *Filter) Name() string { return f.name }

// SizeBytes returns what the value takes in Redis.
func (f *Filter) SizeBytes() uint64 { return f.layout.length }

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("window.Filter(%q n=%d p=%g window=%v generations=%d strategy=%s bytes=%d)",
		f.name, f.plan.n, f.plan.p, f.plan.window, f.plan.generations, f.scheme.Strategy(), f.layout.length)
}
