// Package bf uses filters of the RedisBloom module through its commands BF.*. The server must have the module.
//
//	// Joins the filter, or makes it: BF.RESERVE coupons 0.001 100000.
//	f, err := bf.Open(ctx, client, "coupons", redisbloom.Plan{N: 100_000, P: 0.001, Expansion: 2})
//	if err != nil {
//		return err
//	}
//	added, err := f.Add(ctx, code)                // as BF.ADD
//	local, err := bf.Pull(ctx, client, "coupons") // a copy in this process, for lookups without a round trip
//
// It avoids three faults of the plain commands. A client that repeats BF.ADD after a lost reply gets 0 for a key that
// is new to all processes. BF.ADD makes a missing filter with the module's defaults. BF.EXISTS returns 0 if the filter
// is missing. Errors wrap the errors of package redisfilter.
//
// The module's digests have 64 bits, and anyone can make keys that collide. A filter that was deleted and made again is
// noticed only if it has fewer keys than a reply to this handle has shown.
//
// [docs/formats.md] shows how to move from the module to package redisfilter.
//
// [docs/formats.md]: https://github.com/seed3447c163/bloom/blob/main/docs/formats.md#moving-from-redisbloom
package bf

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Filter is a filter of the module. Make one with [Open]. Methods of the zero Filter panic, except String and
// LogValue. It is safe for concurrent use.
type Filter struct {
	sender *send.Sender
	name   string
	most   atomic.Int64 // the largest number of keys in a reply
}

// highestRate is the rate that the module of Redis 8 uses instead of a larger P.
const highestRate = 0.25

// Open makes the filter of this name by BF.RESERVE, or joins it if it exists. If it was made with another plan, the
// error wraps redisfilter.ErrMismatch. With an Expansion of 0, adds return bloom.ErrFull after N keys. Since Redis 8,
// the module makes filters for a P of at most 0.25.
func Open(ctx context.Context, client redis.UniversalClient, name string, plan redisbloom.Plan) (*Filter, error) {
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return nil, &send.Error{Err: err}
	}
	f := &Filter{sender: sender, name: name}
	reserve := []any{"BF.RESERVE", name, plan.P, plan.N, "EXPANSION", plan.Expansion}
	if plan.Expansion == 0 {
		reserve = append(reserve[:4], "NONSCALING")
	}
	if _, err = send.Do[string](ctx, sender, name, reserve...); strings.Contains(send.Reply(err), "exists") {
		var header []byte
		var is redisbloom.Plan
		if _, header, err = scan(ctx, sender, name, 0); err == nil {
			is, err = redisbloom.ReadPlan(header)
		}
		capped := plan
		capped.P = min(plan.P, highestRate)
		if err == nil && is != plan && is != capped {
			err = send.Errorf(redisfilter.ErrMismatch, "made by the plan %+v, opened for %+v", is, plan)
		}
	}
	if err != nil {
		return nil, explain(name, err)
	}
	return f, nil
}

// Add adds a key, see redisfilter.Filter.Add. At most one call gets true for a key. An add without a reply is not sent
// again: the answer is true, and the error is a redisfilter.AddError.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany. If the filter is gone, it does not make one: the error wraps
// redisfilter.ErrLost.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return batch.Run(ctx, f.sender, f.name, true, keys, added, f.command)
}

// Contains returns false if the key was definitely never added, true if it probably was. The error wraps
// redisfilter.ErrLost if the filter is gone.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany looks up keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return batch.Run(ctx, f.sender, f.name, false, keys, found, f.command)
}

// command sends BF.INSERT or BF.MEXISTS, and then BF.INFO, because BF.MEXISTS returns zeros for a missing filter. The
// number of keys shows whether the filter was made again.
func (f *Filter) command(ctx context.Context, add bool, keys [][]byte, answers []bool) error {
	args := []any{"BF.MEXISTS", f.name}
	if add {
		args = []any{"BF.INSERT", f.name, "NOCREATE", "ITEMS"}
	}
	for _, key := range keys {
		args = append(args, slices.Clone(key)) // the command may outlive the call
	}
	cmd, info := redis.NewCmd(ctx, args...), redis.NewMapStringInterfaceCmd(ctx, "BF.INFO", f.name)
	call, looked := &send.Call{Key: f.name, Cmd: cmd, Add: add}, &send.Call{Key: f.name, Cmd: info}
	most := f.most.Load() // before the reply to another call can raise it
	f.sender.Send(ctx, call, looked)
	if err := call.Err(); err != nil {
		return batch.Unanswered(call, len(keys), explain(f.name, err))
	}
	var items int64
	err := looked.Err()
	if err == nil {
		var ok bool
		if items, ok = info.Val()["Number of items inserted"].(int64); !ok {
			err = fmt.Errorf("BF.INFO answered %v, want a number of items", info.Val())
		}
	}
	switch {
	case err != nil && !add:
		return explain(f.name, err)
	case err == nil && items < most:
		err = send.Errorf(redisfilter.ErrLost, "it has %d keys and had %d: it was made anew", items, most)
		return &redisfilter.AddError{Unsure: batch.Indices(0, len(keys)), Err: err}
	}
	for before := most; items > before && !f.most.CompareAndSwap(before, items); before = f.most.Load() {
	}
	return cmp.Or(f.read(cmd.Val(), answers), batch.Repeated(call, answers))
}

// read decodes a reply with one answer per key: 0 or 1, a boolean in RESP3, or an error for this key.
func (f *Filter) read(reply any, answers []bool) error {
	elements, _ := reply.([]any)
	var failed redisfilter.AddError
	for i := range answers {
		var element any = fmt.Sprintf("the reply has %d answers, want %d", len(elements), len(answers))
		if i < len(elements) && len(elements) <= len(answers) {
			element = elements[i]
		}
		switch e := element.(type) {
		case int64:
			answers[i] = e != 0
		case bool:
			answers[i] = e
		default:
			failed.Err = explain(f.name, fmt.Errorf("%v", e))
			if errors.Is(failed.Err, bloom.ErrFull) && i == len(elements)-1 { // the module does not add the other keys
				failed.NotAdded = batch.Indices(i, len(answers))
				return &failed
			}
			failed.Unsure = append(failed.Unsure, i)
		}
	}
	if failed.Err == nil {
		return nil
	}
	return &failed
}

// explain returns err with the name of the filter and the remedy.
func explain(name string, err error) error {
	switch reply := send.Reply(err); {
	case strings.HasPrefix(reply, "ERR unknown command"):
		return &send.Error{Key: name, Hint: "the server does not have the RedisBloom module: load it, or use redisfilter.Open", Err: err}
	case strings.Contains(reply, "not found"):
		err = send.Errorf(redisfilter.ErrLost, "it was evicted, expired, flushed or deleted: Open makes an empty one: %w", err)
	case strings.HasPrefix(reply, "WRONGTYPE"):
		return &send.Error{Key: name, Err: send.Errorf(redisfilter.ErrMismatch, "no filter of the module: %w", err)}
	case err != nil && strings.Contains(err.Error(), "is full"): // also for an error within the reply
		err = send.Errorf(bloom.ErrFull, "it does not scale: open one with a larger n: %w", err)
	}
	return send.Explain(name, err)
}

// Pull reads a filter of the module into this process, by BF.SCANDUMP. It takes one round trip per layer, or per 16 MiB
// of a larger layer, and two more. Keys that are added during the call may be missing. Pull takes the option of
// redisbloom.FromDump. The error wraps redisfilter.ErrLost if there is no filter, and redisfilter.ErrMismatch if the
// name holds something else. Pull also returns the errors of redisbloom.FromDump: bloom.ErrCorrupt may mean that a
// layer was added during the call, and bloom.ErrIncompatible that a layer has a k above 255, as in filters with an
// Expansion of 1 and more than about 245 layers.
func Pull(ctx context.Context, client redis.UniversalClient, name string, opts ...bloom.Option) (*redisbloom.Filter, error) {
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return nil, &send.Error{Err: err}
	}
	return redisbloom.FromDump(func(iterator int64) (int64, []byte, error) {
		next, chunk, err := scan(ctx, sender, name, iterator)
		return next, chunk, explain(name, err)
	}, opts...)
}

// scan sends BF.SCANDUMP. It returns a chunk of the filter's dump and the iterator for the next chunk.
func scan(ctx context.Context, sender *send.Sender, name string, iterator int64) (next int64, chunk []byte, err error) {
	reply, err := send.Do[[]any](ctx, sender, name, "BF.SCANDUMP", name, iterator)
	if err != nil {
		return 0, nil, err
	}
	if len(reply) != 2 {
		return 0, nil, fmt.Errorf("BF.SCANDUMP answered %d values, want 2", len(reply))
	}
	next, err1 := send.As[int64](reply[0])
	text, err2 := send.As[string](reply[1])
	return next, []byte(text), errors.Join(err1, err2)
}

// Push makes the filter of this name from a local one, by BF.LOADCHUNK. Keys must not be added to local during the
// call. Until it is complete, the filter has a temporary name and a TTL of ten minutes.
//
// The error wraps redisfilter.ErrMismatch if the name is in use; nothing is changed then. After any other error, such
// as the end of ctx, the server may have made the filter.
func Push(ctx context.Context, client redis.UniversalClient, name string, local *redisbloom.Filter) (err error) {
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return &send.Error{Err: err}
	}
	temporary := send.NextTo(name, ":push:"+rand.Text())
	defer func() {
		if err != nil { // also if ctx has ended; if UNLINK fails, the upload expires
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			send.Do[int64](ctx, sender, temporary, "UNLINK", temporary)
		}
	}()
	for iterator, chunk := range local.Chunks() {
		data := bytes.Clone(chunk)
		err := transaction(ctx, client, func(pipe redis.Pipeliner) {
			pipe.BFLoadChunk(ctx, temporary, iterator, data)
			pipe.PExpire(ctx, temporary, 10*time.Minute)
		})
		if err != nil {
			return explain(name, err)
		}
	}
	rename := redis.NewCmd(ctx, "RENAMENX", temporary, name)
	err = transaction(ctx, client, func(pipe redis.Pipeliner) {
		pipe.Persist(ctx, temporary)
		pipe.Process(ctx, send.Once{Cmder: rename}) // if repeated, it would fail because the temporary name is gone
	})
	if err == nil && rename.Val() != int64(1) {
		err = send.Errorf(redisfilter.ErrMismatch, "it is in use: choose another name, or delete it")
	}
	return explain(name, err)
}

// transaction sends the commands that the function queue adds to a pipeline. The server executes all of them, or none
// if it refuses one or the connection ends before the last. transaction returns when ctx ends; the server may execute
// the commands later.
func transaction(ctx context.Context, client redis.UniversalClient, queue func(pipe redis.Pipeliner)) error {
	var cmds []redis.Cmder
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmds, err = client.TxPipelined(ctx, func(pipe redis.Pipeliner) error { queue(pipe); return nil })
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, cmd := range cmds {
		if code := send.Code(cmd.Err()); code != "" && code != "EXECABORT" {
			return cmd.Err() // the cause: no permission, or no module
		}
	}
	return err
}

// String describes the filter in a line for a log, without a round trip.
func (f *Filter) String() string {
	if f.sender == nil {
		return "bf.Filter(zero)"
	}
	return fmt.Sprintf("bf.Filter(name=%q)", f.name)
}

// LogValue returns what String returns, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }
