package redisfilter

import (
	"context"
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Local is a filter in this process with the layout of a [Filter] in Redis: for
// programs that choose between the two by configuration, and for what is filled
// here and then pushed. Its methods never fail, and need no context.
//
// All methods are safe for concurrent use by multiple goroutines.
type Local struct {
	scheme bloom.Scheme
	shards []*bloom.BloomFilter
}

// NewLocal returns an empty filter with the layout that [Open] gives to the same
// arguments. Of the options, [WithBloom] and [WithShards] have an effect.
//
// The error wraps bloom.ErrInvalid or bloom.ErrTooLarge.
func NewLocal(n uint64, p float64, opts ...Option) (*Local, error) {
	o := newOptions(opts)
	if err := o.validate(); err != nil {
		return nil, err
	}
	scheme, shards, err := layoutFor(n, p, o.shards, o.bloom)
	if err != nil {
		return nil, err
	}
	return newLocal(scheme, shards)
}

// NewLocal returns an empty filter in this process with the layout of f, to be
// filled and pushed, or pulled into.
func (f *Filter) NewLocal() (*Local, error) { return newLocal(f.scheme, len(f.shards)) }

func newLocal(scheme bloom.Scheme, shards int) (*Local, error) {
	l := &Local{scheme: scheme, shards: make([]*bloom.BloomFilter, shards)}
	for i := range l.shards {
		var err error
		if l.shards[i], err = scheme.Filter(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Filters returns the filters that make up l, one for each shard. A Local of one
// shard is one bloom.BloomFilter, with all that it can do.
func (l *Local) Filters() []*bloom.BloomFilter { return l.shards }

// SizeBytes returns the memory that the bits of all shards take.
func (l *Local) SizeBytes() uint64 { return l.scheme.SizeBytes() * uint64(len(l.shards)) }

// Stats returns what bloom.BloomFilter.Stats does, of all shards together; n and p are those of
// each shard.
func (l *Local) Stats() bloom.Stats {
	all := l.shards[0].Stats()
	rates := all.EstimatedFalsePositiveRate
	for _, f := range l.shards[1:] {
		s := f.Stats()
		all.M += s.M
		all.SizeBytes += s.SizeBytes
		all.Ones += s.Ones
		if all.EstimatedCount += s.EstimatedCount; all.EstimatedCount < s.EstimatedCount { // a shard is full
			all.EstimatedCount = math.MaxUint64
		}
		rates += s.EstimatedFalsePositiveRate
	}
	all.FillRatio = float64(all.Ones) / float64(all.M)
	all.EstimatedFalsePositiveRate = rates / float64(len(l.shards))
	return all
}

// String describes the filter in a line for a log.
func (l *Local) String() string {
	return fmt.Sprintf("redisfilter.Local(%v shards=%d)", l.scheme, len(l.shards))
}

// shardFor returns the filter that a key belongs to.
func (l *Local) shardFor(key []byte) *bloom.BloomFilter {
	if len(l.shards) == 1 {
		return l.shards[0]
	}
	var room [64]uint64
	return l.shards[shardOf(l.scheme.AppendPositions(room[:0], key), len(l.shards))]
}

// Add adds a key, see bloom.BloomFilter.Add. The error is always nil.
func (l *Local) Add(_ context.Context, key []byte) (bool, error) {
	return l.shardFor(key).Add(key), nil
}

// AddString is [Local.Add] for a string, without copying it.
func (l *Local) AddString(ctx context.Context, key string) (bool, error) {
	return l.Add(ctx, bytesOf(key))
}

// AddMany adds keys, see bloom.BloomFilter.AddMany. The error is always nil.
func (l *Local) AddMany(_ context.Context, keys [][]byte, added []bool) (count int, err error) {
	if len(l.shards) == 1 {
		return l.shards[0].AddMany(keys, added), nil
	}
	return localMany(l, keys, added, (*bloom.BloomFilter).Add), nil
}

// Contains asks for a key, see bloom.BloomFilter.Contains. The error is always nil.
func (l *Local) Contains(_ context.Context, key []byte) (bool, error) {
	return l.shardFor(key).Contains(key), nil
}

// ContainsString is [Local.Contains] for a string, without copying it.
func (l *Local) ContainsString(ctx context.Context, key string) (bool, error) {
	return l.Contains(ctx, bytesOf(key))
}

// ContainsMany asks for keys, see bloom.BloomFilter.ContainsMany. The error is always nil.
func (l *Local) ContainsMany(_ context.Context, keys [][]byte, found []bool) (count int, err error) {
	if len(l.shards) == 1 {
		return l.shards[0].ContainsMany(keys, found), nil
	}
	return localMany(l, keys, found, (*bloom.BloomFilter).Contains), nil
}

// AddStrings is [Local.AddMany] for strings, without copying them.
func (l *Local) AddStrings(_ context.Context, keys []string, added []bool) (count int, err error) {
	if len(l.shards) == 1 {
		return l.shards[0].AddStrings(keys, added), nil
	}
	return localMany(l, keys, added, (*bloom.BloomFilter).Add), nil
}

// ContainsStrings is [Local.ContainsMany] for strings, without copying them.
func (l *Local) ContainsStrings(_ context.Context, keys []string, found []bool) (count int, err error) {
	if len(l.shards) == 1 {
		return l.shards[0].ContainsStrings(keys, found), nil
	}
	return localMany(l, keys, found, (*bloom.BloomFilter).Contains), nil
}

func localMany[K []byte | string](l *Local, keys []K, answers []bool, do func(*bloom.BloomFilter, []byte) bool) (count int) {
	send.CheckAnswers(len(keys), answers)
	for i, text := range keys {
		key := bytesOf(text)
		yes := do(l.shardFor(key), key)
		if yes {
			count++
		}
		if answers != nil {
			answers[i] = yes
		}
	}
	return count
}
