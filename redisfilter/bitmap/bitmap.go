// Package bitmap shares Bloom filters that are plain Redis bitmaps, as other services and libraries
// keep them: no header, and the bit at position i is the bit that SETBIT numbers i.
//
// A redisfilter.Filter is better for all other purposes. Nothing in Redis says how large the filter is
// or where the bits of a key are: a process that opens it with other parameters gets no error and
// misses the keys of others. A bitmap that is gone is an empty one. The errors are those of package
// redisfilter.
package bitmap

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
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
}

// An Option changes a choice of [Open].
type Option func(*options)

type options struct {
	replicas  int
	wait, ttl time.Duration
}

// WithWait makes an add return only when this many replicas have confirmed it, see redisfilter.WithWait.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}

// WithTTL gives the bitmap a TTL after an add that finds it without one.
func WithTTL(d time.Duration) Option { return func(o *options) { o.ttl = d } }

// Open returns the filter in the bitmap at key, which may be missing. Nothing is sent. positions is
// [RueidisProb], [GoZero] or a scheme such as
//
//	bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(guava.Mitz64))
//
// The error wraps bloom.ErrInvalid for parameters out of range, and bloom.ErrTooLarge for a scheme of
// more than 2^32 bits.
func Open(client redis.UniversalClient, key string, positions Positions, opts ...Option) (*Filter, error) {
	var o options
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: option %d of %d is nil", bloom.ErrInvalid, i+1, len(opts))
		}
		opt(&o)
	}
	sender, err := send.New(client, o.replicas, o.wait)
	if err != nil {
		return nil, err
	}
	if s, ok := positions.(*bloom.Scheme); ok {
		positions = nil
		if s != nil {
			positions = *s
		}
	}
	s, isScheme := positions.(bloom.Scheme)
	switch {
	case key == "":
		return nil, fmt.Errorf("%w: empty key, want that of a bitmap", bloom.ErrInvalid)
	case o.ttl < 0 || o.ttl > 0 && o.ttl < time.Millisecond:
		return nil, fmt.Errorf("%w: TTL %v, want at least 1ms, or 0 for none", bloom.ErrInvalid, o.ttl)
	case positions == nil:
		return nil, fmt.Errorf("%w: no positions, want a bloom.Scheme", bloom.ErrInvalid)
	case isScheme && s == (bloom.Scheme{}):
		return nil, fmt.Errorf("%w: the zero Scheme, want one of NewScheme", bloom.ErrInvalid)
	case isScheme && s.Params().M > maxBits:
		return nil, fmt.Errorf("%w: m = %d bits, want at most %d", bloom.ErrTooLarge, s.Params().M, uint64(maxBits))
	case isScheme:
		if err := identity.Check(s); err != nil {
			return nil, err
		}
	}
	k := len(positions.AppendPositions(nil, nil))
	if k == 0 {
		return nil, fmt.Errorf("%w: no position for a key, want at least 1", bloom.ErrInvalid)
	}
	return &Filter{sender: sender, key: key, positions: positions, k: k, ttl: o.ttl}, nil
}

// Add adds a key, see redisfilter.Filter.Add: one winner, sent at most once.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return batch.Run(ctx, f.key, true, keys, added, func(keys [][]byte, answers []bool) batch.Result {
		return f.command(ctx, true, keys, answers)
	})
}

// Contains returns false if the key is definitely not in the bitmap, true if it probably is.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany looks up keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return batch.Run(ctx, f.key, false, keys, found, func(keys [][]byte, answers []bool) batch.Result {
		return f.command(ctx, false, keys, answers)
	})
}

// command adds or looks up the keys of one command: a BITFIELD with all their bits.
func (f *Filter) command(ctx context.Context, add bool, keys [][]byte, answers []bool) batch.Result {
	verb, way := "BITFIELD_RO", "GET"
	if add {
		verb, way = "BITFIELD", "SET"
	}
	args := []any{verb, f.key}
	var positions []uint64
	for i, key := range keys {
		positions = f.positions.AppendPositions(positions, key)
		if n := len(positions) - i*f.k; n != f.k {
			panic(fmt.Sprintf("redisfilter: %d positions for a key and %d for another, want as many", n, f.k))
		}
		for _, pos := range positions[i*f.k:] {
			if args = append(args, way, "u1", pos); add {
				args = append(args, 1)
			}
		}
	}
	values := redis.NewIntSliceCmd(ctx, args...)
	call := &send.Call{Key: f.key, Cmd: values, Add: add}
	if add {
		call.Cmd = send.OnceInts{IntSliceCmd: values}
	}
	f.sender.Send(ctx, call)
	if err := call.Err(); err != nil {
		return batch.Failed(call, len(keys), err)
	}
	bits := values.Val()
	if len(bits) != len(positions) {
		return batch.Result{Unknown: batch.Indices(0, len(keys)), Err: fmt.Errorf("%d replies, want %d", len(bits), len(positions))}
	}
	for i := range keys {
		answers[i] = slices.Contains(bits[i*f.k:(i+1)*f.k], 0) == add
	}
	err := f.sender.Confirmed(call)
	if add && f.ttl > 0 && err == nil {
		err = f.expire(ctx)
	}
	if err != nil {
		return batch.Result{Unconfirmed: batch.Indices(0, len(keys)), Err: err}
	}
	return batch.Result{}
}

// expire sets the TTL of a bitmap that has none.
func (f *Filter) expire(ctx context.Context) error {
	left, err := f.sender.Do(ctx, f.key, "PTTL", f.key)
	if err == nil && left == int64(-1) {
		_, err = f.sender.Do(ctx, f.key, "PEXPIRE", f.key, f.ttl.Milliseconds())
	}
	return err
}

// Stats counts the set bits. N and P are those of the scheme, M that of the scheme or of the value.
func (f *Filter) Stats(ctx context.Context) (bloom.Stats, error) {
	v, err := f.sender.Do(ctx, f.key, "STRLEN", f.key)
	if err != nil {
		return bloom.Stats{}, send.Explain(f.key, err)
	}
	size, _ := v.(int64)
	stats := bloom.Stats{M: 8 * uint64(size), K: f.k, SizeBytes: uint64(size)}
	strategy := bloom.DoubleHashing
	if bits, ok := f.positions.(goZero); ok {
		stats.M = uint64(bits)
	}
	if s, ok := f.positions.(bloom.Scheme); ok {
		strategy = s.Strategy()
		stats.N, stats.P, stats.M, stats.Strategy, stats.Hash = s.Params().N, s.Params().P, s.Params().M, strategy.Name(), s.Hash().Name()
	}
	if stats.Ones, err = f.sender.Ones(ctx, f.key, 0, stats.SizeBytes); err != nil || stats.M == 0 {
		return stats, err
	}
	stats.FillRatio = float64(stats.Ones) / float64(stats.M)
	stats.EstimatedCount, stats.EstimatedFalsePositiveRate = math.MaxUint64, 1
	if n := strategy.EstimatedN(stats.M, f.k, min(stats.Ones, stats.M)); n < math.MaxUint64 {
		stats.EstimatedCount = uint64(math.Round(n))
		stats.EstimatedFalsePositiveRate = strategy.FalsePositiveRate(stats.M, f.k, stats.EstimatedCount)
	}
	return stats, nil
}
