package window

import (
	"context"

	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Contains returns false if the key was definitely not added in the last window, true if it
// probably was, or in the rest of the generation before. The error wraps [redisfilter.ErrLost]
// if the filter is gone, or has gone back to an older value than one that this handle has added
// to; false is no answer then.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	count, err := containsMany(ctx, f, [][]byte{key}, nil)
	return count == 1, err
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(ctx context.Context, key string) (found bool, err error) {
	count, err := containsMany(ctx, f, []string{key}, nil)
	return count == 1, err
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other, in one round trip
// for each 500. It returns how many of them are probably remembered; if found is not nil,
// found[i] becomes what Contains of keys[i] would return. It panics if found is neither nil nor
// as long as keys.
//
// After an error, true is an answer, and false is none.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}

// ContainsStrings is [Filter.ContainsMany] for strings, without copying them.
func (f *Filter) ContainsStrings(ctx context.Context, keys []string, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}

func containsMany[K []byte | string](ctx context.Context, f *Filter, keys []K, found []bool) (count int, err error) {
	send.CheckAnswers(len(keys), found)
	for first := 0; first < len(keys); first += batchKeys {
		last := min(first+batchKeys, len(keys))
		reply, err := f.ask(ctx, last-first, pack(f, keys[first:last]))
		if err != nil {
			return count, err
		}
		count += send.Spread(reply, last-first, first, found)
	}
	return count, nil
}

// ask sends one command that asks for so many keys, which are packed.
func (f *Filter) ask(ctx context.Context, n int, packed []byte) (string, error) {
	l := f.life.Load()
	if err := f.key.Ready(ctx, l.Life); err != nil {
		return "", err
	}
	own := []any{"", "", "", "", "", packed}
	if s := l.Slot(); s != nil {
		own = []any{s.At, s.At + laneAt - 1, l.Owner, s.Least(), s.At + 8, packed}
	}
	f.key.Counts.Keys.Add(uint64(n))
	f.key.Counts.Bytes.Add(uint64(commandBytes + len(packed)))
	v, err := f.key.Run(ctx, f.scripts.ask, f.common(l, own...)...)
	if err != nil {
		return "", f.key.Explain(l.Life, err)
	}
	reply, ok := v.(string)
	if !ok || len(reply) != (n+7)/8 {
		return "", f.key.Errorf("a reply of %T and %d bytes to %d keys", v, len(reply), n)
	}
	return reply, nil
}

// pack writes what the scripts read of keys, see scriptKeys.
func pack[K []byte | string](f *Filter, keys []K) []byte {
	dst := make([]byte, 0, len(keys)*(24+9*f.words))
	var positions []uint64
	for _, key := range keys {
		h1, h2 := onekey.Hash(f.scheme, key)
		positions = f.scheme.AppendDigestPositions(positions[:0], h1, h2)
		b := onekey.BlockOf(positions)
		record := headerBytes + b.Index*f.layout.record
		dst = b.Append(dst, record, record+f.layout.record-1, 0)
	}
	return dst
}
