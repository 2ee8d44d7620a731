package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

const (
	// chunkBytes is the piece of a filter that one command transfers: round trips do not matter, and
	// the server is free again after a tenth of a millisecond.
	chunkBytes = 256 << 10

	// uploadTTL is how long an abandoned upload stays in the server's memory.
	uploadTTL = 10 * time.Minute
)

// Push replaces the contents of the filter in Redis by local filters, one per shard: bloom.New with the
// same arguments makes one for a filter of one shard, [NewLocal] for any filter. The expiry stays as it
// is. Handles that have opened the filter before get [ErrLost] from their next call, also for keys
// that they have added during the upload. To keep these, use [Filter.Merge].
//
// Each shard is uploaded under another name and exchanged by one script. After an error, some shards
// may have been exchanged.
//
// The error wraps bloom.ErrIncompatible if the filters are not as many as the shards or have another
// layout, or if the filter grows or has a window; [ErrLost] if the filter is gone or was made anew by
// another process, whose filter is not changed.
func (f *Filter) Push(ctx context.Context, local ...*bloom.BloomFilter) error {
	return f.transfer(local, func(s *shard, words *bloom.BloomFilter) error { return f.put(ctx, s, words, true) })
}

// Merge adds the contents of local filters, one per shard, to the filter in Redis, as Union does in the
// process. Keys that others add at the same time stay. A shard is merged by one command, in which
// the server answers no client: about 1 ms per MiB. After an error, some shards may have been merged;
// merging them again does no harm. The errors are those of [Filter.Push].
func (f *Filter) Merge(ctx context.Context, local ...*bloom.BloomFilter) error {
	return f.transfer(local, func(s *shard, words *bloom.BloomFilter) error { return f.put(ctx, s, words, false) })
}

// Pull adds the contents of the filter in Redis to local filters, one per shard, as Union does in the
// process. All keys that were added before Pull began are in them afterwards. After an error, the
// local filters may have a part of the contents. The errors are those of [Filter.Push].
func (f *Filter) Pull(ctx context.Context, local ...*bloom.BloomFilter) error {
	return f.transfer(local, func(s *shard, to *bloom.BloomFilter) error { return f.pull(ctx, s, to) })
}

// transfer checks the local filters and calls do for each shard.
func (f *Filter) transfer(local []*bloom.BloomFilter, do func(*shard, *bloom.BloomFilter) error) error {
	switch {
	case f.plan.growth || f.plan.generations > 0:
		return fmt.Errorf("%w: a filter that grows or has a window, want a plain one", bloom.ErrIncompatible)
	case len(local) != len(f.shards):
		return fmt.Errorf("%w: %d local filters for %d shards, want one per shard, see NewLocal", bloom.ErrIncompatible, len(local), len(f.shards))
	}
	for i, l := range local {
		if l == nil {
			return fmt.Errorf("%w: local filter %d is nil", bloom.ErrIncompatible, i)
		}
		if mine, want := l.Scheme().Identity(), f.plan.scheme.Identity(); mine != want {
			return fmt.Errorf("%w: local filter %d has %s, want %s", bloom.ErrIncompatible, i, mine, want)
		}
	}
	for i, s := range f.shards {
		if err := do(s, local[i]); err != nil {
			return err
		}
	}
	return nil
}

// put uploads a local filter and puts it in the place of a shard, or adds it to the shard. Both are an
// add by this handle's slot, so that a rollback which forgets them is noticed.
func (f *Filter) put(ctx context.Context, s *shard, local *bloom.BloomFilter, replace bool) (err error) {
	p := &part{shard: s}
	if f.prepare(ctx, true, []*part{p}); p.err != nil {
		return p.err
	}
	ticket := newNonce()
	upload := send.NextTo(s.name, ":upload:"+strconv.FormatUint(binary.LittleEndian.Uint64([]byte(ticket)), 36))
	to := &shard{name: upload}
	defer func() {
		if err != nil {
			f.sender.Remove(ctx, upload)
		}
	}()
	write := func(at uint64, data []byte) error {
		r := &request{shard: to, script: f.scripts.upload, args: []any{at, data, uploadTTL.Milliseconds()}}
		f.exec(ctx, r)
		return send.Explain(upload, r.err())
	}
	// The end first: a value that grows by pieces is copied each time and takes more memory.
	if err := write(f.plan.layout.end, []byte(ticket)); err != nil {
		return err
	}
	words := local.Words()
	for from := 0; from < len(words); from += chunkBytes / 8 {
		to := min(from+chunkBytes/8, len(words))
		chunk := make([]byte, 0, (to-from)*8) // not used again: an abandoned command may still read it
		for i := from; i < to; i++ {
			chunk = binary.LittleEndian.AppendUint64(chunk, words[i].Load())
		}
		if err := write(f.plan.layout.body+uint64(from)*8, chunk); err != nil {
			return err
		}
	}
	if err := write(0, []byte(ticket)); err != nil {
		return err
	}
	h, head := f.plan.header(p.life.ttl), []byte{}
	if replace {
		h.expires = p.life.expires
		head = h.encode()
	}
	r := &request{shard: s, second: upload, script: f.scripts.put, once: true, add: true,
		args: []any{p.life.epoch, p.slot.at, p.slot.at + 15, p.life.owner, p.slot, f.plan.layout.end, ticket, head, p.slot.at + 8}}
	f.exec(ctx, r)
	count, ok := r.cmd.Val().(int64)
	switch err := r.err(); {
	case err != nil:
		return f.explain(s, p.life, err)
	case !ok || count == 0:
		return fmt.Errorf("redisfilter: key %q: the upload was evicted or deleted before it was whole, and nothing was changed: give the server more memory, or the maxmemory-policy noeviction, and try again", upload)
	case replace:
		s.life.Store(f.newLife(h))
	default:
		p.slot.see(float64(count))
	}
	return f.sender.Confirmed(r.call)
}

// pull adds the contents of a shard to a local filter.
func (f *Filter) pull(ctx context.Context, s *shard, local *bloom.BloomFilter) error {
	l, _, err := f.alive(ctx, s)
	if err != nil {
		return err
	}
	words, size := local.Words(), f.plan.scheme.SizeBytes()
	for from := uint64(0); from < size; from += chunkBytes {
		to := min(from+chunkBytes, size)
		b, err := f.piece(ctx, s, f.plan.layout.body+from, f.plan.layout.body+to)
		if err != nil {
			return err
		}
		for j := 0; j+8 <= len(b); j += 8 {
			if w := littleEndian(b[j:]); w != 0 {
				words[(from+uint64(j))/8].Or(w)
			}
		}
	}
	return f.same(ctx, s, l)
}

// littleEndian decodes the first 8 bytes of s without copying them.
func littleEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// A Local is a filter in this process with the layout of a plain [Filter]: it is filled here and then
// pushed, or pulled into. All methods are safe for concurrent use.
type Local struct {
	scheme bloom.Scheme
	shards []*bloom.BloomFilter
}

// NewLocal returns an empty filter with the layout that [Open] gives to the same arguments.
//
// The error wraps bloom.ErrInvalid, bloom.ErrTooLarge, or bloom.ErrIncompatible for a filter that grows
// or has a window.
func NewLocal(n uint64, p float64, opts ...Option) (*Local, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if o.growth || o.windowed {
		return nil, fmt.Errorf("%w: a filter that grows or has a window, want a plain one", bloom.ErrIncompatible)
	}
	plan, err := newPlan(n, p, o)
	if err != nil {
		return nil, err
	}
	l := &Local{scheme: plan.scheme, shards: make([]*bloom.BloomFilter, plan.shards)}
	for i := range l.shards {
		if l.shards[i], err = plan.scheme.Filter(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Filters returns the filters that l consists of, one per shard.
func (l *Local) Filters() []*bloom.BloomFilter { return l.shards }

// Add adds a key and reports whether it is new, see bloom.BloomFilter.Add.
func (l *Local) Add(key []byte) bool { return l.shardFor(key).Add(key) }

// Contains reports whether a key was probably added, see bloom.BloomFilter.Contains.
func (l *Local) Contains(key []byte) bool { return l.shardFor(key).Contains(key) }

// shardFor returns the filter that a key belongs to.
func (l *Local) shardFor(key []byte) *bloom.BloomFilter {
	if len(l.shards) == 1 {
		return l.shards[0]
	}
	var room [64]uint64
	return l.shards[shardOf(l.scheme.AppendPositions(room[:0], key), len(l.shards))]
}
