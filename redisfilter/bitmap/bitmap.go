// Package bitmap shares Bloom filters that are plain Redis bitmaps, as other services and libraries
// keep them: no header, and the bit at position i is the bit that SETBIT numbers i.
//
// A redisfilter.Filter is better for all other purposes. Redis does not know the size of a bitmap's filter or
// the bits of a key: a process with other parameters gets no error and misses the keys of others. A missing
// bitmap is an empty filter. Errors wrap the errors of package redisfilter.
package bitmap

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/failure"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// maxBits is the length of the longest string in Redis.
const maxBits = 1 << 32

// Positions says where the bits of a key are. It appends the same number of positions below 2^32 for
// every key. A bloom.Scheme has the method.
type Positions interface {
	AppendPositions(dst []uint64, key []byte) []uint64
}

// A Filter is a Bloom filter in a plain bitmap. Make one with [Open]. It is safe for concurrent use.
type Filter struct {
	sender    *send.Sender
	key       string
	positions Positions
	k         int
	ttl       time.Duration
	renew     bool
}

// Open returns the filter in the bitmap at key, which may be missing. It sends nothing. positions is
// [RueidisProb], [GoZero] or a scheme such as
//
//	bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(guava.Mitz64))
//
// An add that finds the bitmap without a TTL gives it ttl, unless ttl is 0. The error wraps
// bloom.ErrInvalid, or bloom.ErrTooLarge for more than 2^32 bits.
func Open(client redis.UniversalClient, key string, positions Positions, ttl time.Duration) (*Filter, error) {
	sender, err := send.New(client, 0, 0)
	switch s, isScheme := positions.(bloom.Scheme); {
	case err != nil:
	case ttl < 0 || ttl > 0 && ttl < time.Millisecond:
		err = failure.Errorf(bloom.ErrInvalid, "TTL %v, want at least 1ms, or 0 for none", ttl)
	case positions == nil || isScheme && s == (bloom.Scheme{}):
		err = failure.Errorf(bloom.ErrInvalid, "no positions, want a Scheme of NewScheme")
	case isScheme && s.Params().M > maxBits:
		err = failure.Errorf(bloom.ErrTooLarge, "m = %d bits, want at most %d", s.Params().M, uint64(maxBits))
	case isScheme:
		if err = s.Portable(); err != nil {
			err = failure.As(bloom.ErrInvalid, err)
		}
	}
	if err != nil {
		return nil, &send.Error{Err: err}
	}
	return &Filter{sender: sender, key: key, positions: positions, k: len(positions.AppendPositions(nil, nil)), ttl: ttl}, nil
}

// OpenRenewing is [Open] with a TTL that each add renews, also one of known keys, as an EXPIRE after each batch of SETBIT does.
func OpenRenewing(client redis.UniversalClient, key string, positions Positions, ttl time.Duration) (*Filter, error) {
	f, err := Open(client, key, positions, ttl)
	if err == nil && ttl == 0 {
		return nil, &send.Error{Err: failure.Errorf(bloom.ErrInvalid, "TTL 0, want at least 1ms")}
	}
	if err == nil {
		f.renew = true
	}
	return f, err
}

// Add adds a key, see redisfilter.Filter.Add: one winner, sent at most once.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return batch.Run(ctx, f.key, true, keys, added, f.command)
}

// Contains returns false if the key is definitely not in the bitmap, true if it probably is.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany looks up keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return batch.Run(ctx, f.key, false, keys, found, f.command)
}

// command is a BITFIELD with all bits of the keys.
func (f *Filter) command(ctx context.Context, add bool, keys [][]byte, answers []bool) error {
	verb, way := "BITFIELD_RO", "GET"
	if add {
		verb, way = "BITFIELD", "SET"
	}
	args, want := []any{verb, f.key}, len(keys)*f.k
	for _, key := range keys {
		positions := f.positions.AppendPositions(nil, key)
		if f.k == 0 || len(positions) != f.k {
			panic(fmt.Sprintf("redisfilter: %d positions for a key and %d for another, want as many", len(positions), f.k))
		}
		for _, pos := range positions {
			if args = append(args, way, "u1", pos); add {
				args = append(args, 1)
			}
		}
	}
	values := redis.NewIntSliceCmd(ctx, args...)
	calls := []*send.Call{{Key: f.key, Cmd: values, Add: add}}
	expire := redis.NewIntCmd(ctx, "PEXPIRE", f.key, f.ttl.Milliseconds())
	left := redis.NewIntCmd(ctx, "PTTL", f.key)
	switch {
	case add && f.renew:
		calls = append(calls, &send.Call{Key: f.key, Cmd: expire})
	case add && f.ttl > 0:
		calls = append(calls, &send.Call{Key: f.key, Cmd: left})
	}
	f.sender.Send(ctx, calls...)
	if err := calls[0].Err(); err != nil {
		return batch.Unanswered(calls[0], len(keys), err)
	}
	bits := values.Val()
	if len(bits) != want {
		return &redisfilter.AddError{Unknown: batch.Indices(0, len(keys)), Err: fmt.Errorf("%d replies, want %d", len(bits), want)}
	}
	for i := range keys {
		answers[i] = slices.Contains(bits[i*f.k:(i+1)*f.k], 0) == add
	}
	if len(calls) == 1 {
		return nil
	}
	last := calls[1]
	if !f.renew && last.Err() == nil {
		if left.Val() >= 0 {
			return nil
		}
		last = &send.Call{Key: f.key, Cmd: expire}
		f.sender.Send(ctx, last)
	}
	err := last.Err()
	if err == nil && expire.Val() != 1 {
		err = fmt.Errorf("PEXPIRE answered %d, want 1", expire.Val())
	}
	if err != nil {
		return &redisfilter.AddError{Unconfirmed: batch.Indices(0, len(keys)), Err: fmt.Errorf("added without a TTL: %w", err)}
	}
	return nil
}

// Stats counts the set bits. N and P come from the scheme, M from the scheme or the value.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	size, err := f.sender.Client.StrLen(ctx, f.key).Uint64()
	if err != nil {
		return bloom.Stats{}, send.Explain(f.key, err)
	}
	stats, strategy := bloom.Stats{Params: bloom.Params{M: 8 * size, K: f.k}, SizeBytes: size}, bloom.DoubleHashing
	switch s := f.positions.(type) {
	case goZero:
		stats.M = uint64(s)
	case bloom.Scheme:
		strategy = s.Strategy()
		stats.Params, stats.Strategy, stats.Hash = s.Params(), strategy.Name(), s.Hash().Name()
	}
	if stats.Ones, err = f.sender.Ones(ctx, f.key, 0, stats.SizeBytes); err != nil || stats.M == 0 {
		return stats, send.Explain(f.key, err)
	}
	stats.FillRatio = float64(stats.Ones) / float64(stats.M)
	stats.EstimatedCount, stats.EstimatedFalsePositiveRate = send.Estimate(strategy, stats.M, f.k, stats.Ones)
	return stats, nil
}
