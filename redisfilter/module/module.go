// Package module uses filters of the RedisBloom module (BF.RESERVE, BF.INSERT,
// BF.MEXISTS), on servers that have it: Redis Stack, Redis 8.
//
// The module keeps the filter in a format of its own, and its hash is not keyed: strangers
// that choose the keys can make them collide. [Pull] and [Push] move a whole filter between
// the server and package interop/rebloom, which is the same filter in the process.
//
// The errors and the AddError are those of package redisfilter.
package module

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Filter is a filter of the module. Make one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	sender send.Sender
	name   string
	plan   rebloom.Plan
	counts send.Counters
}

var _ redisfilter.Set = (*Filter)(nil)

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	return fmt.Sprintf("module.Filter(%q n=%d p=%g expansion=%d)", f.name, f.plan.N, f.plan.P, f.plan.Expansion)
}

// An Option changes how the module makes a filter.
type Option func(*options)

type options struct {
	expansion  int
	expand     bool // expansion was named
	nonScaling bool
	ttl        time.Duration
}

// WithExpansion makes each further layer, once n keys are in, this many times as
// large as the one before. At least 1; the default is 2.
func WithExpansion(times int) Option {
	return func(o *options) { o.expansion, o.expand = times, true }
}

// WithoutScaling has the module refuse keys beyond n, with redisfilter.ErrFull, instead of adding
// layers: less memory and time if n is known.
func WithoutScaling() Option {
	return func(o *options) { o.nonScaling = true }
}

// WithTTL lets the filter expire d after it was made. It is for the process that makes
// the filter; those that join it do not change it. At least a millisecond; the default is never.
func WithTTL(d time.Duration) Option {
	return func(o *options) { o.ttl = d }
}

// Open makes the filter of this name by BF.RESERVE, or joins it if it is there. A filter
// that was made for another n or p, with another expansion or without one, is
// redisfilter.ErrMismatch; BF.SCANDUMP tells, also when it has grown.
//
// The error wraps bloom.ErrInvalid for parameters out of range. A server without
// the module answers that it does not know the command.
func Open(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) (*Filter, error) {
	o := options{expansion: rebloom.DefaultExpansion}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&o)
	}
	switch {
	case name == "":
		return nil, fmt.Errorf("%w: empty name, want a Redis key", bloom.ErrInvalid)
	case n == 0:
		return nil, fmt.Errorf("%w: n = 0 keys, want at least 1", bloom.ErrInvalid)
	case !(p > 0 && p < 1):
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	case o.expansion < 1 || o.expansion > math.MaxInt32 || o.expand && o.nonScaling:
		return nil, fmt.Errorf("%w: expansion %d, want 1 to %d, and not with WithoutScaling", bloom.ErrInvalid, o.expansion, math.MaxInt32)
	case o.ttl < 0 || o.ttl > 0 && o.ttl < time.Millisecond:
		return nil, fmt.Errorf("%w: TTL %v, want at least 1ms, or 0 for none", bloom.ErrInvalid, o.ttl)
	}
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return nil, err
	}
	f := &Filter{sender: sender, name: name, plan: rebloom.Plan{N: n, P: p}}
	args := []any{"BF.RESERVE", name, p, n}
	if o.nonScaling {
		args = append(args, "NONSCALING")
	} else {
		// Also the default is named: that of a server may be another one.
		args = append(args, "EXPANSION", o.expansion)
		f.plan.Expansion = uint32(o.expansion)
	}
	if o.ttl > 0 {
		err = f.reserveExpiring(ctx, args, o.ttl)
	} else {
		_, err = f.sender.DoOnce(ctx, args...)
	}
	if errors.Is(err, errExists) || send.IsReply(err) && strings.Contains(err.Error(), "exists") {
		err = f.check(ctx)
	}
	if err != nil {
		return nil, f.explain(err)
	}
	return f, nil
}

// errExists stands for the module's own refusal to make what is there.
var errExists = errors.New("redisfilter: the key exists")

// reserveExpiring makes a filter together with its expiry: there must never be one
// that has none. In a transaction, the expiry would also be given to a filter that
// is there already. So it is executed only if there is none up to then.
func (f *Filter) reserveExpiring(ctx context.Context, args []any, ttl time.Duration) error {
	for range send.JoinTries {
		err := f.ifMissing(ctx, func(pipe redis.Pipeliner) {
			pipe.Process(ctx, send.Once{Cmd: redis.NewCmd(ctx, args...)})
			pipe.Do(ctx, "PEXPIRE", f.name, ttl.Milliseconds())
		})
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
	return fmt.Errorf("redisfilter: key %q: made and deleted by others in each of %d tries: %w", f.name, send.JoinTries, redis.TxFailedErr)
}

// ifMissing executes commands in a transaction if there is no filter up to then, and
// returns errExists if there is one.
func (f *Filter) ifMissing(ctx context.Context, commands func(redis.Pipeliner)) error {
	return f.sender.Watch(ctx, func(tx *redis.Tx) error {
		there, err := tx.Exists(ctx, f.name).Result()
		if err != nil {
			return err
		}
		if there > 0 {
			return errExists
		}
		cmds, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			commands(pipe)
			return nil
		})
		return send.Cause(cmds, err)
	}, f.name)
}

// check compares a filter that is there with what it is opened for.
func (f *Filter) check(ctx context.Context) error {
	chunk, err := f.dump(ctx, 0)
	if err != nil {
		return err
	}
	is, err := rebloom.ReadPlan(chunk.Data)
	if err != nil {
		return fmt.Errorf("redisfilter: key %q: %w", f.name, err)
	}
	if want := f.plan; is != want {
		return fmt.Errorf("%w: key %q was made for n = %d, p = %v and expansion %d (0 is NONSCALING), opened for n = %d, p = %v and expansion %d",
			redisfilter.ErrMismatch, f.name, is.N, is.P, is.Expansion, want.N, want.P, want.Expansion)
	}
	return nil
}

// dump returns the chunk of the filter that follows an iterator.
func (f *Filter) dump(ctx context.Context, iterator int64) (rebloom.Chunk, error) {
	v, err := f.sender.Do(ctx, "BF.SCANDUMP", f.name, iterator)
	if err != nil {
		return rebloom.Chunk{}, err
	}
	if pair, ok := v.([]any); ok && len(pair) == 2 {
		next, isInt := pair[0].(int64)
		data, isText := pair[1].(string)
		if isInt && (isText || next == 0) { // the last one has no bytes
			return rebloom.Chunk{Iterator: next, Data: []byte(data)}, nil
		}
	}
	return rebloom.Chunk{}, fmt.Errorf("redisfilter: key %q: BF.SCANDUMP answered %T, want an iterator and bytes", f.name, v)
}
