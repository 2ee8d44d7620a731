package redisfilter

import (
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

const (
	// maxValue is the longest string in Redis, in bytes.
	maxValue = 512 << 20

	// shardBytes is the largest shard by default. A command on a whole value of this size takes about 10 ms. During
	// this time, the server answers no client.
	shardBytes = 30 << 20

	// A growing filter has one shard per growingBytes of its first layers, up to growingShards, or one per growingMost
	// if that is more. To add a layer, the server moves the value to new memory, in 0.6 ms per MiB. With 32 shards and
	// at most 256 MiB in all, that is 5 ms for a shard of 8 MiB.
	growingBytes, growingShards, growingMost = 64 << 10, 32, 2 << 20
)

// shardsFor returns the number of shards for a filter whose size in bytes is whole.
func (o *options) shardsFor(whole uint64) int {
	count := func(each uint64) uint64 { return (whole + each - 1) / each }
	switch {
	case o.shards > 0:
		return o.shards
	case o.growth:
		return int(min(max(count(growingMost), min(count(growingBytes), growingShards)), maxShards))
	}
	return int(min(count(shardBytes), maxShards))
}

// newPlan checks the arguments of Open and computes the sizes of the filter.
func newPlan(n uint64, p float64, o options) (*plan, error) {
	switch {
	case !(p > 0 && p < 1):
		return nil, send.Errorf(bloom.ErrInvalid, "p = %v, want 0 < p < 1", p)
	case n == 0:
		return nil, send.Errorf(bloom.ErrInvalid, "n = 0 keys, want at least 1")
	}
	f := &plan{n: n, p: p, opts: o, shards: 1}
	f.mode = f.newMode()
	// There is no limit for package bloom: the sizes are checked below, when the number of shards is known.
	f.bloom = append([]bloom.Option{bloom.WithStrategy(bloom.Blocked)}, o.bloom...)
	f.bloom = append(f.bloom, bloom.WithMaxBytes(math.MaxInt64))
	limit := bloom.MaxBytes(o.bloom...)
	if err := f.size(); err != nil {
		return nil, err
	}
	f.shards = o.shardsFor(f.end)
	if err := f.size(); err != nil {
		return nil, err
	}
	switch length := f.length(); {
	case length > maxValue:
		return nil, send.Errorf(bloom.ErrTooLarge, "%d bytes in each of %d shards, want at most %d", length, f.shards, uint64(maxValue))
	case length*uint64(f.shards) > limit:
		return nil, send.Errorf(bloom.ErrTooLarge, "%d bytes, want at most %d", length*uint64(f.shards), limit)
	}
	f.limit = min(maxValue, limit/uint64(f.shards))
	return f, nil
}

// size computes the first layers and the offset of the epoch after them.
func (f *plan) size() error {
	s, layers, keys, err := f.mode.size()
	if err != nil {
		return err
	}
	if err := s.Portable(); err != nil {
		return send.WithKind(bloom.ErrInvalid, err)
	}
	if s.Strategy() != bloom.Blocked {
		return send.Errorf(bloom.ErrInvalid, "strategy %q, want Blocked", s.Strategy())
	}
	each := s.SizeBytes()
	if each > math.MaxInt64/uint64(layers)/2 {
		return send.Errorf(bloom.ErrTooLarge, "%d layers of %d bytes", layers, each)
	}
	body := each * uint64(layers)
	f.scheme, f.first = s, make([]layer, layers)
	f.end = headerBytes + body
	for i := range f.first {
		f.first[i] = layer{scheme: s, words: wordsOf(s), at: headerBytes + uint64(i)*each, end: f.end, keys: keys}
	}
	return nil
}

// newMode returns the mode for the options.
func (f *plan) newMode() mode {
	switch {
	case f.opts.growth:
		return newGrowing(f)
	case f.opts.windowed:
		return windowed{f, f.opts.millis()}
	}
	return plain{f}
}
