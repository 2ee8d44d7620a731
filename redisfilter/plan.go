package redisfilter

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

const (
	// shardBytes is the largest shard unless WithShards says otherwise. A command on a whole value of this size takes
	// the server some 10 ms, in which it answers no client.
	shardBytes = 30 << 20

	// growingBytes is the same for the first layer of a growing shard. Opening the fourth layer moves and clears 30 MiB.
	growingBytes = 2 << 20
)

// A plan says where the bits of a key are in each shard.
type plan struct {
	sizing
	mode mode
}

// newPlan checks what the caller wants and sizes it.
func newPlan(n uint64, p float64, o options) (*plan, error) {
	switch {
	case !(p > 0 && p < 1):
		return nil, invalid("p = %v, want 0 < p < 1", p)
	case n == 0:
		return nil, invalid("n = 0 keys, want at least 1")
	}
	f := &plan{sizing: sizing{n: n, p: p, shards: max(1, o.shards)}}
	largest := uint64(shardBytes)
	switch {
	case o.growth:
		f.mode, largest = &growing{sizing: &f.sizing}, growingBytes
	case o.windowed:
		f.mode = &windowed{sizing: &f.sizing, generations: o.generations, millis: o.millis()}
	default:
		f.mode = &plain{}
	}
	// Schemes of several shards may be larger together than one filter can be.
	f.opts = append([]bloom.Option{bloom.WithStrategy(bloom.Blocked)}, o.bloom...)
	f.opts = append(f.opts, bloom.WithMaxBytes(math.MaxInt64))
	limit := bloom.MaxBytes(o.bloom...)
	if err := f.size(); err != nil {
		return nil, err
	}
	if whole := f.layout.length; o.shards == 0 && whole > largest {
		f.shards = int(min((whole+largest-1)/largest, maxShards+1))
		if f.shards > maxShards {
			return nil, tooLarge("n = %d keys at p = %v need %d bytes, want at most %d", n, p, whole, uint64(maxShards)*largest)
		}
		if err := f.size(); err != nil {
			return nil, err
		}
	}
	switch length := f.layout.length; {
	case length > maxValue:
		return nil, tooLarge("%d bytes in each of %d shards, want at most %d", length, f.shards, uint64(maxValue))
	case length*uint64(f.shards) > limit:
		return nil, tooLarge("%d bytes, want at most %d", length*uint64(f.shards), limit)
	}
	f.limit = min(maxValue, limit/uint64(f.shards))
	f.mode.begin(&f.sizing)
	return f, nil
}

// size computes the scheme of the first layer and the layout.
func (f *plan) size() error {
	s, layers, err := f.mode.size(&f.sizing)
	if err != nil {
		return own(err)
	}
	if err := identity.Check(s); err != nil {
		return own(err)
	}
	if s.Strategy() != bloom.Blocked {
		return invalid("strategy %q, want Blocked", s.Strategy())
	}
	f.scheme = s
	f.layout, err = layoutOf(s, layers)
	return err
}

// header returns the header of a new value.
func (f *plan) header(ttl time.Duration) header {
	h := header{
		shards: f.shards, slots: f.layout.slots, epoch: newNonce(), n: f.n, p: f.p, ttl: ttl.Milliseconds(), end: f.layout.end,
		text: textOf(f.scheme),
	}
	f.mode.describe(&h)
	h.fingerprint = f.fingerprint(h)
	return h
}

// fingerprint is a digest of everything that decides where the bits of a key are, and of n and p.
func (f *plan) fingerprint(h header) uint64 {
	text := fmt.Sprintf("redisfilter %d shards=%d slots=%d generations=%d ms=%d growing=%v n=%d p=%016x %s",
		version, h.shards, h.slots, h.generations, h.millis, h.growth, h.n, math.Float64bits(h.p), f.scheme.String())
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

// check compares a header with the plan.
func (f *plan) check(key string, h header) error {
	mine := f.header(0)
	switch {
	case h.fingerprint == mine.fingerprint:
		return f.mode.check(key, h)
	case h.String() == mine.String():
		return fmt.Errorf("%w: key %q was created for %v, with another seed or secret", ErrMismatch, key, h)
	}
	return fmt.Errorf("%w: key %q was created for %v; opened for %v", ErrMismatch, key, h, mine)
}
