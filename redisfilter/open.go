package redisfilter

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Open makes the filter of this name, for n different keys at a false-positive rate of at most p, or
// joins it if it is there. All processes that open a filter must name the same n and p (or others that
// lead to the same size), growth or window, hash and shards.
//
// The error wraps bloom.ErrInvalid for parameters that bloom.New refuses and for an unsuitable client,
// bloom.ErrTooLarge for a filter that Redis cannot hold, and [ErrMismatch] if the name holds
// something else, which is never changed.
//
// The caller closes the client. The client must read where it writes: one that reads from replicas
// misses keys that were just added. A cluster client that does so is refused; a Sentinel client with
// ReplicaOnly cannot be recognised and must not be used. A Ring, which continues at another
// server without the keys when one does not answer, is refused.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) (*Filter, error) {
	o, sender, err := checked(client, name, opts)
	if err != nil {
		return nil, err
	}
	return open(ctx, sender, name, n, p, o, true)
}

// Join opens the filter of this name with the n, p, shards, growth or window that it was made with, and
// with its hash if that is of package bloom; pass a seed, a secret or a custom hash as options. Join never creates a filter:
// the error wraps [ErrLost] if the filter or a part of it is
// missing. Other errors are those of [Open].
func Join(ctx context.Context, client redis.UniversalClient, name string, opts ...Option) (*Filter, error) {
	o, sender, err := checked(client, name, opts)
	if err != nil {
		return nil, err
	}
	key := o.prefix + name
	head, err := do[string](ctx, &Filter{sender: sender}, key, "GETRANGE", key, 0, headerBytes-1)
	if err != nil {
		return nil, err
	}
	if head == "" {
		return nil, fmt.Errorf("%w: no filter at key %q; Open creates it", ErrLost, key)
	}
	h, err := decodeHeader(key, head)
	if err != nil {
		return nil, err
	}
	if o, err = h.options(key, o); err != nil {
		return nil, err
	}
	return open(ctx, sender, name, h.n, h.p, o, false)
}

// checked checks the arguments that do not depend on the size.
func checked(client redis.UniversalClient, name string, opts []Option) (options, *send.Sender, error) {
	o, err := newOptions(opts)
	if err == nil {
		err = checkName(name)
	}
	if err == nil {
		err = checkName(o.prefix + name)
	}
	if err != nil {
		return o, nil, err
	}
	sender, err := send.New(client, o.replicas, o.wait)
	if err != nil {
		return o, nil, own(err)
	}
	return o, sender, nil
}

func open(ctx context.Context, sender *send.Sender, name string, n uint64, p float64, o options, mayMake bool) (*Filter, error) {
	plan, err := newPlan(n, p, o)
	if err != nil {
		return nil, err
	}
	f := &Filter{name: name, opts: o, plan: plan, sender: sender}
	for i := range plan.shards {
		f.shards = append(f.shards, &shard{name: shardName(o.prefix+name, i, plan.shards)})
	}
	f.adds, f.lookups = f.groups(true), f.groups(false)
	if err := f.join(ctx, mayMake); err != nil {
		return nil, err
	}
	return f, nil
}

// groups returns a group for each shard.
func (f *Filter) groups(add bool) []group {
	all := make([]group, len(f.shards))
	for i, s := range f.shards {
		g := &all[i]
		g.shard, g.add, g.k, g.sender = s, add, f.plan.scheme.Params().K, f.sender
		g.round = func(ctx context.Context, b *batch, answers []bool) { f.round(ctx, add, []*batch{b}, answers) }
	}
	return all
}
