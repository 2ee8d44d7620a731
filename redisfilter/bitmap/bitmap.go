// Package bitmap shares Bloom filters that are plain Redis bitmaps, as other services and
// libraries keep them: no header, and the bit at position i is the bit that SETBIT
// numbers i.
//
// It is for sharing a filter with a service that already runs one; a redisfilter.Filter is
// better in every other respect. Nothing in Redis says how large the filter is or where a
// key's bits are: a process that opens it with other parameters gets no error, and misses
// the keys of others. Nor is it noticed when the bitmap is gone: every key is new then.
//
// The errors and the AddError are those of package redisfilter.
package bitmap

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// maxBits is how long a string can be in Redis: 512 MiB.
const maxBits = 1 << 32

// Positions says where a key's bits are: bloom.Scheme does. It appends the same
// number of positions for every key, in the same order for ever, and is called
// from many goroutines at once.
type Positions interface {
	AppendPositions(dst []uint64, key []byte) []uint64
}

// A Filter is a Bloom filter in a plain bitmap. Make one with [Open].
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	sender    send.Sender
	key       string
	positions Positions
	k         int
	counts    send.Counters
}

var _ redisfilter.Set = (*Filter)(nil)

// String describes the filter in a line for a log.
func (f *Filter) String() string { return fmt.Sprintf("bitmap.Filter(%q k=%d)", f.key, f.k) }

// An Option changes what Open would choose by itself.
type Option func(*options)

type options struct {
	replicas int
	wait     time.Duration
}

// WithWait makes an add return only when this many replicas have confirmed it, or with
// redisfilter.ErrReplicas after the timeout, as redisfilter.WithWait does.
func WithWait(replicas int, timeout time.Duration) Option {
	return func(o *options) { o.replicas, o.wait = replicas, timeout }
}

// Open returns the filter in the bitmap at key, which may be missing: then it
// is an empty one. positions says where a key's bits are; a bloom.Scheme does, such
// as
//
//	bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(strategy))
//
// and so do [RueidisProb] and [GoZero]. Positions must be below 2^32. Nothing is sent.
//
// The error wraps bloom.ErrInvalid for parameters out of range, and bloom.ErrTooLarge for
// a scheme of more than 2^32 bits.
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
	if key == "" {
		return nil, fmt.Errorf("%w: empty key, want that of a bitmap", bloom.ErrInvalid)
	}
	if s, ok := positions.(*bloom.Scheme); ok { // has the method, too
		positions = nil
		if s != nil {
			positions = *s
		}
	}
	if positions == nil {
		return nil, fmt.Errorf("%w: no positions, want a bloom.Scheme", bloom.ErrInvalid)
	}
	if s, ok := positions.(bloom.Scheme); ok {
		switch {
		case s.Params().K == 0:
			return nil, fmt.Errorf("%w: the zero Scheme, want one of NewScheme", bloom.ErrInvalid)
		case s.Params().M > maxBits:
			return nil, fmt.Errorf("%w: m = %d bits, want at most %d", bloom.ErrTooLarge, s.Params().M, uint64(maxBits))
		}
		if err := identity.Check(s); err != nil {
			return nil, err
		}
	}
	k := len(positions.AppendPositions(nil, nil))
	if k == 0 {
		return nil, fmt.Errorf("%w: no position for a key, want at least 1", bloom.ErrInvalid)
	}
	return &Filter{sender: sender, key: key, positions: positions, k: k}, nil
}

// Add adds a key, see redisfilter.Filter.Add: one winner, sent at most once.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.many(ctx, true, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return f.many(ctx, true, keys, added)
}

// Contains returns false if the key is definitely not in the bitmap, true if it
// probably is.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.many(ctx, false, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany asks for keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return f.many(ctx, false, keys, found)
}
