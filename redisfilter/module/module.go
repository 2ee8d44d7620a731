// Package module uses filters of the RedisBloom module (BF.RESERVE, BF.INSERT, BF.MEXISTS), on servers
// that have it: Redis Stack, Redis 8.
//
// The module keeps the filter in a format of its own, and its hash has no key: strangers who choose the
// keys can make them collide. [Pull] and [Push] move a whole filter between the server and package
// interop/rebloom. The errors are those of package redisfilter.
//
// A filter that was deleted and made anew is noticed only if it has fewer keys than a reply to this
// handle has shown.
package module

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Filter is a filter of the module. Make one with [Open]. It is safe for concurrent use.
type Filter struct {
	sender *send.Sender
	name   string
	plan   rebloom.Plan
	most   atomic.Uint64 // keys that a reply has shown
}

// An Option changes how the module makes a filter.
type Option func(*options)

type options struct {
	expansion  int
	named      bool // expansion was named
	nonScaling bool
	ttl        time.Duration
}

// WithExpansion makes each further layer this many times as large as the one before; the default is 2.
func WithExpansion(times int) Option { return func(o *options) { o.expansion, o.named = times, true } }

// WithoutScaling has the module refuse keys beyond n, with redisfilter.ErrFull, instead of adding layers.
func WithoutScaling() Option { return func(o *options) { o.nonScaling = true } }

// WithTTL makes the filter expire d after it was made. A process that joins it does not change that.
func WithTTL(d time.Duration) Option { return func(o *options) { o.ttl = d } }

// Open makes the filter of this name by BF.RESERVE, or joins it if it is there. A filter that was made
// for another n, p or expansion is redisfilter.ErrMismatch.
//
// The error wraps bloom.ErrInvalid for parameters out of range.
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
	case n == 0 || n > math.MaxInt64:
		return nil, fmt.Errorf("%w: n = %d keys, want 1 to %d", bloom.ErrInvalid, n, int64(math.MaxInt64))
	case !(p > 0 && p < 1):
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	case o.expansion < 1 || o.expansion > math.MaxInt32 || o.nonScaling && o.named:
		return nil, fmt.Errorf("%w: expansion %d, want 1 to %d, and not with WithoutScaling", bloom.ErrInvalid, o.expansion, math.MaxInt32)
	case o.ttl < 0 || o.ttl > 0 && o.ttl < time.Millisecond:
		return nil, fmt.Errorf("%w: TTL %v, want at least 1ms, or 0 for none", bloom.ErrInvalid, o.ttl)
	}
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return nil, err
	}
	f := &Filter{sender: sender, name: name, plan: rebloom.Plan{N: n, P: p}}
	// The default is named, too: a server may have another one.
	reserve := &redis.BFReserveOptions{Capacity: int64(n), Error: p, NonScaling: o.nonScaling}
	if !o.nonScaling {
		reserve.Expansion, f.plan.Expansion = int64(o.expansion), uint32(o.expansion)
	}
	exists := false
	if o.ttl == 0 {
		err = client.BFReserveWithArgs(ctx, name, reserve).Err()
		exists = send.IsReply(err) && strings.Contains(err.Error(), "exists")
	} else {
		exists, err = f.make(ctx, func(temporary string) error {
			_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.BFReserveWithArgs(ctx, temporary, reserve)
				pipe.PExpire(ctx, temporary, o.ttl)
				return nil
			})
			return err
		}, false)
	}
	if exists {
		err = f.check(ctx)
	}
	if err != nil {
		return nil, f.explain(err)
	}
	return f, nil
}

// check compares the filter that is there with the plan.
func (f *Filter) check(ctx context.Context) error {
	header, err := f.sender.Client.BFScanDump(ctx, f.name, 0).Result()
	if err != nil {
		return err
	}
	is, err := rebloom.ReadPlan([]byte(header.Data))
	if err == nil && is != f.plan {
		err = fmt.Errorf("%w: key %q was made for n = %d, p = %v and expansion %d (0 is NONSCALING), opened for n = %d, p = %v and expansion %d",
			redisfilter.ErrMismatch, f.name, is.N, is.P, is.Expansion, f.plan.N, f.plan.P, f.plan.Expansion)
	}
	return err
}

// Add adds a key, see redisfilter.Filter.Add: one winner, sent at most once.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany. It never makes a filter: the error wraps
// redisfilter.ErrLost if that is gone, and redisfilter.ErrFull if a filter that does not scale has
// refused keys, which are in AddError.NotAdded.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return f.run(ctx, true, keys, added)
}

// Contains returns false if the key was definitely never added, true if it probably was. The error wraps
// redisfilter.ErrLost if the filter is gone.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany looks up keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return f.run(ctx, false, keys, found)
}

// run sends a command with BF.INFO behind it for each batch: BF.MEXISTS answers 0 for a filter that is gone,
// and the number of keys shows whether it was made anew.
func (f *Filter) run(ctx context.Context, add bool, keys [][]byte, answers []bool) (int, error) {
	return batch.Run(ctx, f.name, add, keys, answers, func(keys [][]byte, answers []bool) batch.Result {
		args := []any{"BF.MEXISTS", f.name}
		if add {
			args = []any{"BF.INSERT", f.name, "NOCREATE", "ITEMS"}
		}
		for _, key := range keys {
			args = append(args, slices.Clone(key)) // the command may outlive the call
		}
		cmd, info := redis.NewCmd(ctx, args...), redis.NewCmd(ctx, "BF.INFO", f.name)
		call := &send.Call{Key: f.name, Cmd: cmd}
		if add {
			call.Cmd = send.Once{Cmd: cmd}
		}
		most := f.most.Load() // before the reply to another call can raise it
		looked := &send.Call{Key: f.name, Cmd: info}
		f.sender.Send(ctx, call, looked)
		if err := call.Err(); err != nil {
			return batch.Failed(call, len(keys), f.explain(err))
		}
		r := f.answers(cmd.Val(), answers)
		if err := looked.Err(); err == nil {
			numbers, err := infoOf(info.Val())
			if now := numbers["Number of items inserted"]; err == nil && now < most {
				err = fmt.Errorf("%w: key %q: it has %d keys and had %d: it was made anew", redisfilter.ErrLost, f.name, now, most)
				return batch.Result{Unknown: batch.Indices(0, len(keys)), Err: err}
			} else if err == nil && now > f.most.Load() {
				f.most.Store(now)
			}
		} else if !add {
			clear(answers)
			return batch.Result{Err: f.explain(err)}
		}
		return r
	})
}

// answers reads an element per key: 0 or 1, in RESP3 a boolean, or an error for that key alone.
func (f *Filter) answers(reply any, answers []bool) (r batch.Result) {
	n := len(answers)
	elements, ok := reply.([]any)
	if !ok || len(elements) > n {
		return batch.Result{Unknown: batch.Indices(0, n), Err: fmt.Errorf("redisfilter: key %q: unexpected reply %v, want %d answers", f.name, reply, n)}
	}
	for i, e := range elements {
		switch e := e.(type) {
		case int64:
			answers[i] = e != 0
		case bool:
			answers[i] = e
		default:
			r.Err = f.explain(fmt.Errorf("%v", e))
			// A full filter is the module's only reason to end early: it leaves out the rest.
			if isFull(r.Err) && i == len(elements)-1 {
				r.NotAdded = batch.Indices(i, n)
				return r
			}
			r.Unknown = append(r.Unknown, i)
		}
	}
	if len(elements) < n {
		r.Unknown = append(r.Unknown, batch.Indices(len(elements), n)...)
		r.Err = cmp.Or(r.Err, fmt.Errorf("redisfilter: key %q: %d answers, want %d", f.name, len(elements), n))
	}
	return r
}

func isFull(err error) bool { return strings.Contains(err.Error(), "is full") }

// Stats asks BF.INFO: N is the capacity of all layers, EstimatedCount the number of keys that were new.
// The module does not tell the bits, which are 0.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	v, err := f.sender.Do(ctx, f.name, "BF.INFO", f.name)
	if err != nil {
		return bloom.Stats{}, f.explain(err)
	}
	numbers, err := infoOf(v)
	if err != nil {
		return bloom.Stats{}, fmt.Errorf("redisfilter: key %q: %w", f.name, err)
	}
	return bloom.Stats{N: numbers["Capacity"], P: f.plan.P, SizeBytes: numbers["Size"], EstimatedCount: numbers["Number of items inserted"]}, nil
}

// infoOf reads the reply to BF.INFO, an array or in RESP3 a map.
func infoOf(v any) (map[string]uint64, error) {
	var pairs []any
	switch v := v.(type) {
	case map[any]any:
		for name, value := range v {
			pairs = append(pairs, name, value)
		}
	case []any:
		pairs = v
	}
	numbers := make(map[string]uint64)
	for i := 0; i+1 < len(pairs); i += 2 {
		if n, ok := pairs[i+1].(int64); ok && n >= 0 {
			numbers[fmt.Sprint(pairs[i])] = uint64(n)
		}
	}
	for _, name := range []string{"Capacity", "Size", "Number of items inserted"} {
		if _, ok := numbers[name]; !ok {
			return nil, fmt.Errorf("BF.INFO answered %v, want a number for %q", v, name)
		}
	}
	return numbers, nil
}

// explain adds what the user can do.
func (f *Filter) explain(err error) error {
	switch {
	case err == nil || strings.HasPrefix(err.Error(), "redisfilter: "):
		return err
	case send.IsReply(err) && strings.HasPrefix(err.Error(), "ERR unknown command"):
		return fmt.Errorf("redisfilter: key %q: the server does not have the RedisBloom module: load it, or use redisfilter.Open: %w", f.name, err)
	case send.IsReply(err) && strings.Contains(err.Error(), "not found"):
		return fmt.Errorf("%w: key %q: it was evicted, expired, flushed or deleted: Open makes an empty one: %w", redisfilter.ErrLost, f.name, err)
	case send.Code(err) == "WRONGTYPE":
		return fmt.Errorf("%w: key %q holds no filter of the module: %w", redisfilter.ErrMismatch, f.name, err)
	case isFull(err):
		return fmt.Errorf("%w: key %q: it does not scale: open one with a larger n: %w", redisfilter.ErrFull, f.name, err)
	}
	return send.Explain(f.name, err)
}
