package redisfilter

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// chunkBytes is the number of bytes that one command transfers. It is large enough for the time of round trips not to
// matter, and takes the server less than a millisecond.
const chunkBytes = 256 << 10

// Merge adds the contents of a local filter to the filter in Redis, as Union does for filters in memory. It is for a
// bulk load, or to restore a filter that [Filter.Local] has read. Keys that others add at the same time stay.
//
// After an error, a part may have been merged; call Merge again. The error wraps bloom.ErrIncompatible if the local
// filter has another layout, or if f grows or has a window. It wraps [ErrLost] if the filter is gone or was made again
// by another process.
func (f *Filter) Merge(ctx context.Context, local *Local) error {
	h := f.handle()
	switch {
	case !h.plan.fixed():
		return errPlain
	case local == nil || local.plan == nil:
		return incompatible("local filter is nil")
	case len(local.shards) != len(h.shards) || local.plan.scheme.String() != h.plan.scheme.String():
		return incompatible("a local filter of %d shards with %s, want %d with %s",
			len(local.shards), local.plan.scheme.String(), len(h.shards), h.plan.scheme.String())
	}
	for i, part := range local.shards {
		if part.Scheme().String() != h.plan.scheme.String() {
			return incompatible("part %d of the local filter has %s, want %s", i, part.Scheme().String(), h.plan.scheme.String())
		}
	}
	for i, s := range h.shards {
		if err := h.merge(ctx, s, local.shards[i]); err != nil {
			return send.Explain(s.name, err)
		}
	}
	return nil
}

// Local returns a copy of the filter in this process. It has all keys that were added before the call. It returns the
// errors of [Filter.Merge].
func (f *Filter) Local(ctx context.Context) (*Local, error) {
	h := f.handle()
	if !h.plan.fixed() {
		return nil, errPlain
	}
	local, err := h.plan.local()
	if err != nil {
		return nil, err
	}
	for i, s := range h.shards {
		if err := h.pull(ctx, s, local.shards[i]); err != nil {
			return nil, send.Explain(s.name, err)
		}
	}
	return local, nil
}

var errPlain = incompatible("a filter that grows or has a window, want a plain one")

func incompatible(text string, args ...any) error {
	return &send.Error{Err: send.Errorf(bloom.ErrIncompatible, text, args...)}
}

// merge adds a local filter to a shard, in pieces. A piece without a reply may be sent again, because merging it twice
// changes nothing.
func (f *handle) merge(ctx context.Context, s *shard, local *bloom.BloomFilter) error {
	b := &batch{shard: s}
	if f.prepare(ctx, true, []*batch{b}); b.err != nil {
		return b.err
	}
	temporary := send.NextTo(s.name, ":merge:"+rand.Text()) // names that nobody else has
	words := local.Words()
	var warning error
	for from := 0; from < len(words); from += chunkBytes / 8 {
		to := min(from+chunkBytes/8, len(words))
		bits := make([]byte, 0, (to-from)*8) // not used again: an abandoned command may still read it
		for i := from; i < to; i++ {
			bits = binary.LittleEndian.AppendUint64(bits, words[i].Load())
		}
		r := &request{keys: []string{s.name, temporary + ":a", temporary + ":b"}, script: addScript, add: f.sender.Replicas > 0}
		r.args = append(f.epochArgs(b.value), bits, 0, 0, "m", headerBytes+uint64(from)*8)
		f.exec(ctx, r)
		switch _, err := reply[string](r); {
		case send.Code(err) == send.Gone:
			return f.lost(b.value, isGone)
		case err != nil:
			return err
		}
		warning = cmp.Or(f.sender.Confirmed(r.call), warning)
	}
	return warning
}

// pull adds the contents of a shard to a local filter.
func (f *handle) pull(ctx context.Context, s *shard, local *bloom.BloomFilter) error {
	words, size := local.Words(), f.plan.scheme.SizeBytes()
	return f.steadily(ctx, s, func(b *batch) error {
		for from := uint64(0); from < size; from += chunkBytes {
			first, last := headerBytes+from, headerBytes+min(from+chunkBytes, size)-1
			piece, err := send.Do[string](ctx, f.sender, s.name, "GETRANGE", s.name, first, last)
			if err != nil {
				return err
			}
			if uint64(len(piece)) != last-first+1 {
				return f.lost(b.value, isGone)
			}
			for j := 0; j < len(piece); j += 8 {
				if w := binary.LittleEndian.Uint64([]byte(piece[j : j+8])); w != 0 {
					words[(from+uint64(j))/8].Or(w)
				}
			}
		}
		return nil
	})
}
