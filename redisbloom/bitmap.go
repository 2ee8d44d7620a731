package redisbloom

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// A Bitmap is a Bloom filter that is a plain Redis bitmap, as other services and
// libraries keep them: no header, and the bit at position i is the bit that SETBIT
// numbers i. It is for sharing a filter with a service that already runs one; a
// [Filter] is better in every other respect. Nothing in Redis says how large the
// filter is or where a key's bits are: whoever opens it with other parameters is
// not told, and misses the others' keys. Nor is it noticed when the bitmap is gone:
// everything is new then.
//
// All methods are safe for concurrent use by multiple goroutines.
type Bitmap struct{ bitsOf }

// OpenBitmap returns the filter in the bitmap at key, which may be missing: then it
// is an empty one. positions says where a key's bits are; a bloom.Scheme does, such
// as
//
//	bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(strategy))
//
// and so do [RueidisProb] and [GoZero]. Positions must be below 2^32. Of the
// options, [WithWait] has an effect. Nothing is sent.
func OpenBitmap(client redis.UniversalClient, key string, positions Positions, opts ...Option) (*Bitmap, error) {
	o := newOptions(opts)
	if err := o.validate(); err != nil {
		return nil, err
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
		case s.Params().M > maxValueBits:
			return nil, fmt.Errorf("%w: m = %d bits, want at most %d", bloom.ErrTooLarge, s.Params().M, uint64(maxValueBits))
		}
		if err := checkPortable(s); err != nil {
			return nil, err
		}
	}
	k := len(positions.AppendPositions(nil, nil))
	if k == 0 {
		return nil, fmt.Errorf("%w: no position for a key, want at least 1", bloom.ErrInvalid)
	}
	return &Bitmap{bitsOf{sender: sender, key: key, positions: positions, k: k}}, nil
}

// Add adds a key, see [Filter.Add]: one winner, sent at most once.
func (b *Bitmap) Add(ctx context.Context, key []byte) (bool, error) {
	n, err := b.many(ctx, true, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see [Filter.AddMany].
func (b *Bitmap) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return b.many(ctx, true, keys, added)
}

// Contains returns false if the key is definitely not in the bitmap, true if it
// probably is.
func (b *Bitmap) Contains(ctx context.Context, key []byte) (bool, error) {
	n, err := b.many(ctx, false, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany asks for keys, see [Filter.ContainsMany].
func (b *Bitmap) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return b.many(ctx, false, keys, found)
}
