package module

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Info is what [Filter.Info] has found out: the module's own numbers.
type Info struct {
	rebloom.Plan // what the filter was made for

	Name      string `json:"name"`
	Capacity  uint64 `json:"capacity"` // keys that all layers of now are for
	Keys      uint64 `json:"keys"`     // that adds have found to be new
	Layers    int    `json:"layers"`
	SizeBytes uint64 `json:"size_bytes"` // that the filter takes in Redis
}

// String describes the filter in a line for a log.
func (i Info) String() string {
	return fmt.Sprintf("module.Info(%q n=%d p=%g expansion=%d layers=%d capacity=%d keys=%d bytes=%d)",
		i.Name, i.N, i.P, i.Expansion, i.Layers, i.Capacity, i.Keys, i.SizeBytes)
}

// Info asks BF.INFO. The error is as that of [Filter.Contains].
func (f *Filter) Info(ctx context.Context) (Info, error) {
	f.counts.RoundTrips.Add(1)
	v, err := f.sender.Do(ctx, "BF.INFO", f.name)
	if err != nil {
		return Info{}, f.explain(err)
	}
	numbers := make(map[string]int64)
	note := func(name, value any) {
		if n, ok := value.(int64); ok {
			numbers[fmt.Sprint(name)] = n
		}
	}
	switch v := v.(type) {
	case map[any]any: // RESP3
		for name, value := range v {
			note(name, value)
		}
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			note(v[i], v[i+1])
		}
	}
	number := func(name string) uint64 {
		n, ok := numbers[name]
		if err == nil && (!ok || n < 0) {
			err = fmt.Errorf("redisfilter: key %q: BF.INFO answered %v, want a number for %q", f.name, v, name)
		}
		return uint64(max(n, 0))
	}
	info := Info{
		Plan: f.plan, Name: f.name, Capacity: number("Capacity"), Keys: number("Number of items inserted"),
		Layers: int(number("Number of filters")), SizeBytes: number("Size"),
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// Stats returns that part of [Filter.Info] which all filters have: N, the capacity of all layers,
// P, SizeBytes and EstimatedCount. The module does not tell the rest, which is 0.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	info, err := f.Info(ctx)
	return bloom.Stats{N: info.Capacity, P: info.P, SizeBytes: info.SizeBytes, EstimatedCount: info.Keys}, err
}

// Counts returns what the filter has done up to now; FrontHits is always 0, and Lost counts each call
// that found the filter gone. It costs nothing worth naming.
func (f *Filter) Counts() redisfilter.Counts { return redisfilter.Counts(f.counts.Load()) }

// EachCount calls yield with each of the counts and its name: what package prombloom makes metrics
// of.
func (f *Filter) EachCount(yield func(name string, value float64)) { f.counts.EachCount(yield) }

// Delete removes the filter from Redis, for everybody: the next call of all others is
// redisfilter.ErrLost. What is no filter of the module, or one that was made for something else, is
// left alone. It is tried ten times if others add meanwhile.
func (f *Filter) Delete(ctx context.Context) error {
	var err error
	for range send.JoinTries {
		f.counts.RoundTrips.Add(1)
		err = f.sender.Watch(ctx, func(tx *redis.Tx) error {
			if err := f.check(ctx); err != nil {
				return f.explain(err)
			}
			cmds, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Unlink(ctx, f.name)
				return nil
			})
			return send.Cause(cmds, err)
		}, f.name)
		switch {
		case errors.Is(err, redisfilter.ErrLost) || errors.Is(err, redisfilter.ErrMismatch):
			return nil
		case !errors.Is(err, redis.TxFailedErr):
			return f.explain(err)
		}
	}
	return fmt.Errorf("redisfilter: key %q: others added to it in each of %d tries, and nothing was deleted: %w", f.name, send.JoinTries, err)
}
