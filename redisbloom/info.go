package redisbloom

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// Info is what [Filter.Info] has found out.
type Info struct {
	Name           string
	Params         bloom.Params // n and p, the bits of all shards, the bits of a key
	Strategy       string
	Shards         int
	Bytes          uint64    // that the values take in Redis
	Expires        time.Time // zero for never
	Ones           uint64    // bits that are set
	EstimatedCount float64   // keys that have most likely been added; +Inf if a shard is full
	EstimatedRate  float64   // false-positive rate as it is now
}

// FillRatio returns the share of bits that are set. At n keys it is about a half.
func (i Info) FillRatio() float64 { return float64(i.Ones) / float64(i.Params.M) }

// String describes the filter in a line for a log.
func (i Info) String() string {
	expires := "never"
	if !i.Expires.IsZero() {
		expires = i.Expires.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("redisbloom.Info(%q n=%d p=%g m=%d k=%d strategy=%s shards=%d bytes=%d expires=%s fill=%.3f keys≈%.0f rate≈%.2g)",
		i.Name, i.Params.N, i.Params.P, i.Params.M, i.Params.K, i.Strategy, i.Shards, i.Bytes, expires, i.FillRatio(), i.EstimatedCount, i.EstimatedRate)
}

// countBytes is how much of a value is counted by one command: about 1 ms.
const countBytes = 4 << 20

// Info counts the bits that are set and estimates from them how many keys are in
// and how often the filter errs now. The server counts; it takes about 0.2 ms for
// each MiB, in commands of a millisecond. The error wraps [ErrLost] if the filter is
// gone.
func (f *Filter) Info(ctx context.Context) (Info, error) {
	info := Info{
		Name: f.name, Params: f.params, Strategy: f.scheme.Strategy().Name(), Shards: len(f.shards),
		Bytes: f.valueBytes() * uint64(len(f.shards)), Expires: f.Expires(),
	}
	for _, s := range f.shards {
		ones, err := f.ones(ctx, s)
		if err != nil {
			return Info{}, err
		}
		info.Ones += ones
		n, rate := f.scheme.Strategy().EstimatedN(f.m, f.k, ones), 1.0
		if n < math.MaxUint64 {
			rate = f.scheme.Strategy().FalsePositiveRate(f.m, f.k, uint64(math.Round(n)))
		}
		info.EstimatedCount += n
		info.EstimatedRate += rate / float64(len(f.shards))
	}
	return info, nil
}

// ones counts the bits that are set in a shard.
func (f *Filter) ones(ctx context.Context, s *shard) (uint64, error) {
	l := s.life.Load()
	if err := f.alive(ctx, s, l); err != nil {
		return 0, err
	}
	var ones uint64
	for from := uint64(headerBytes); from < f.valueBytes(); from += countBytes {
		v, err := f.sender.Do(ctx, "BITCOUNT", s.name, from, min(from+countBytes, f.valueBytes())-1)
		if err != nil {
			return 0, send.Explain(s.name, err)
		}
		n, ok := v.(int64)
		if !ok {
			return 0, fmt.Errorf("redisbloom: key %q: BITCOUNT answered %T, want an integer", s.name, v)
		}
		ones += uint64(n)
	}
	return ones, f.alive(ctx, s, l)
}
