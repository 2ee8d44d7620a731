package redisfilter

import (
	"context"
	"fmt"

	"github.com/seed3447c163/bloom"
)

// Pull adds the contents of the filter in Redis to local filters, one for each
// shard, as Union does in the process. Everything that was added before Pull began
// is in them afterwards.
//
// The error wraps bloom.ErrIncompatible as that of [Filter.Push] does, and
// [ErrLost] if the filter is gone. After an error, the local filters may have part of
// the contents.
func (f *Filter) Pull(ctx context.Context, local ...*bloom.BloomFilter) error {
	report, err := f.transfer(local)
	if err != nil {
		return err
	}
	for i, s := range f.shards {
		l := s.life.Load()
		if err := f.alive(ctx, s, l); err != nil {
			return err
		}
		words := local[i].Words()
		for from := uint64(0); from < f.scheme.SizeBytes(); from += chunkBytes {
			to := min(from+chunkBytes, f.scheme.SizeBytes())
			b, err := f.sender.GetRange(ctx, s.name, headerBytes+from, headerBytes+to-1)
			if err != nil {
				return err
			}
			if uint64(len(b)) != to-from {
				return f.diagnose(ctx, s, l)
			}
			for j := 0; j+8 <= len(b); j += 8 {
				if w := littleEndian(b[j:]); w != 0 {
					words[(from+uint64(j))/8].Or(w)
				}
			}
			report(to - from)
		}
		// The same key all the time, or some chunks came from another one.
		if err := f.alive(ctx, s, l); err != nil {
			return err
		}
	}
	f.log.InfoContext(ctx, "pulled", "filter", f.name)
	return nil
}

// transfer checks the local filters, and returns what counts the bytes for
// WithProgress.
func (f *Filter) transfer(local []*bloom.BloomFilter) (report func(bytes uint64), err error) {
	if len(local) != len(f.shards) {
		return nil, fmt.Errorf("%w: %d local filters for %d shards, want one for each: see NewLocal", bloom.ErrIncompatible, len(local), len(f.shards))
	}
	for i, l := range local {
		if l == nil {
			return nil, fmt.Errorf("%w: local filter %d is nil", bloom.ErrIncompatible, i)
		}
		if mine, want := l.Scheme().Identity(), f.scheme.Identity(); mine != want {
			return nil, fmt.Errorf("%w: local filter %d has %s, want %s", bloom.ErrIncompatible, i, mine, want)
		}
	}
	done, total := uint64(0), f.scheme.SizeBytes()*uint64(len(local))
	report = func(bytes uint64) {
		done += bytes
		if f.opts.progress != nil {
			f.opts.progress(done, total)
		}
	}
	report(0)
	return report, nil
}

// littleEndian decodes the first 8 bytes of s. A conversion to a slice would copy every
// chunk.
func littleEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
