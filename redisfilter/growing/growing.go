package growing

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// A Filter is a set of keys in Redis that grows as keys come. Make or join one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	name  string
	key   *onekey.Key
	n     uint64
	p     float64
	opts  options
	limit uint64 // of the value's length

	hash    bloom.Scheme // of the first layer, to hash keys
	words   int          // that a key has in a layer
	scripts scripts
	header  header // all but the epoch
	life    atomic.Pointer[life]

	planning sync.Mutex // held while a layer is planned
	planned  atomic.Pointer[[]layer]
}

var _ redisfilter.Set = (*Filter)(nil)

// Open makes the filter of this name, or joins it if it is there. It grows for the first time
// after n keys, n below 1024 being as good as 1024, and its false-positive rate stays at most p.
// All processes that open it must name the same n and p, strategy and hash.
//
// The error wraps [bloom.ErrInvalid] for parameters out of range, a strategy that is none of the
// Blocked ones, and a client that cannot serve, as for [redisfilter.Open]; [bloom.ErrTooLarge] for
// more than 512 MiB or [bloom.WithMaxBytes]; and [redisfilter.ErrMismatch] if there is something
// else under the name. What is there is never changed then.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) (*Filter, error) {
	f, err := newFilter(client, name, opts)
	if err != nil {
		return nil, err
	}
	if err := f.plan(n, p); err != nil {
		return nil, err
	}
	if err := f.Reopen(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// Join opens the filter of this name with the n, p, strategy and hash that it was made with; a seed,
// a secret key or a hash of your own must be named. It makes nothing: the error wraps
// [redisfilter.ErrLost] if there is no filter, and is otherwise as that of [Open].
func Join(ctx context.Context, client redis.UniversalClient, name string, opts ...Option) (*Filter, error) {
	f, err := newFilter(client, name, opts)
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
	f.opts.bloom = onekey.Named(h.text, f.opts.bloom)
	if err := f.plan(h.n, h.p); err != nil {
		return nil, err
	}
	if err := f.join(ctx, h); err != nil {
		return nil, err
	}
	return f, nil
}

// newFilter checks what does not depend on n and p.
func newFilter(client redis.UniversalClient, name string, opts []Option) (*Filter, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	key, err := onekey.New("redisfilter/growing", commands, client, o.prefix, name, o.replicas, o.wait)
	if err != nil {
		return nil, err
	}
	return &Filter{name: name, key: key, opts: o, limit: min(onekey.MaxValue, bloom.MaxBytes(o.bloom...))}, nil
}

// plan plans the first layer.
func (f *Filter) plan(n uint64, p float64) error {
	if !(p > 0 && p < 1) {
		return fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	f.n, f.p = n, p
	// The strategy is that for the rate of the third layer.
	f.opts.bloom = append([]bloom.Option{bloom.WithStrategy(identity.DefaultStrategy(p/12, bloom.Blocked8))}, f.opts.bloom...)
	layers, err := f.layers(1, f.limit)
	if err != nil {
		return err
	}
	f.hash = layers[0].scheme
	if err := identity.Check(f.hash); err != nil {
		return err
	}
	if f.words, err = onekey.Words(f.hash); err != nil {
		return err
	}
	f.scripts = newScripts(f.words)
	f.header = header{
		fingerprint: fingerprintOf(f.hash, n, p), n: n, p: p,
		layers: 1, left: layers[0].keys, text: identity.Text(f.hash, expiresAt-textAt),
	}
	return nil
}

// SizeBytes returns what the value takes in Redis, with the layers that this handle has seen.
func (f *Filter) SizeBytes() uint64 {
	count := f.life.Load().layers.Load() // before the plan: what was seen was planned before
	return (*f.planned.Load())[count-1].length()
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("growing.Filter(%q n=%d p=%g layers=%d strategy=%s bytes=%d)",
		f.name, f.n, f.p, f.life.Load().layers.Load(), f.hash.Strategy(), f.SizeBytes())
}
