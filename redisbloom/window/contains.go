package window

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// Contains returns false if the key was definitely not added in the last window, true if it
// probably was, or in the rest of the generation before. The error wraps [redisbloom.ErrLost]
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

// ContainsManyStrings is [Filter.ContainsMany] for strings, without copying them.
func (f *Filter) ContainsManyStrings(ctx context.Context, keys []string, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}

func containsMany[K []byte | string](ctx context.Context, f *Filter, keys []K, found []bool) (count int, err error) {
	checkAnswers(len(keys), found)
	for first := 0; first < len(keys); first += batchKeys {
		last := min(first+batchKeys, len(keys))
		reply, err := f.ask(ctx, last-first, pack(f, keys[first:last]))
		if err != nil {
			return count, err
		}
		count += spread(reply, last-first, first, found)
	}
	return count, nil
}

// ask sends one command that asks for so many keys, which are packed.
func (f *Filter) ask(ctx context.Context, n int, packed []byte) (string, error) {
	l := f.life.Load()
	if l.lost.Load() {
		return "", f.noticed()
	}
	if err := ctx.Err(); err != nil {
		return "", send.Explain(f.key, err)
	}
	own := []any{"", "", "", "", "", packed}
	if s := l.slot.Load(); s != nil {
		own = []any{s.at, s.at + laneAt - 1, l.owner, s.least(), s.at + 8, packed}
	}
	f.counts.Keys.Add(uint64(n))
	f.counts.Bytes.Add(uint64(commandBytes + len(packed)))
	v, err := f.run(ctx, f.scripts.ask, f.common(l, own...)...)
	if err != nil {
		return "", f.explain(l, err)
	}
	reply, ok := v.(string)
	if !ok || len(reply) != (n+7)/8 {
		return "", fmt.Errorf("redisbloom/window: key %q: a reply of %T and %d bytes to %d keys", f.key, v, len(reply), n)
	}
	return reply, nil
}

// pack writes what the scripts read of keys, see scriptKeys.
func pack[K []byte | string](f *Filter, keys []K) []byte {
	dst := make([]byte, 0, len(keys)*(24+9*f.words))
	var positions []uint64
	for _, key := range keys {
		var h1, h2 uint64
		switch key := any(key).(type) {
		case []byte:
			h1, h2 = f.scheme.Hash(key)
		case string:
			h1, h2 = f.scheme.HashString(key)
		}
		positions = f.scheme.AppendPositionsHash(positions[:0], h1, h2)
		block := positions[0] / 512
		var masks [8]uint64
		for _, pos := range positions {
			masks[pos%512/64] |= 1 << (pos % 64)
		}
		used := uint8(0) // a bit for each word
		for i, mask := range masks {
			if mask != 0 {
				used |= 1 << i
			}
		}
		for bits.OnesCount8(used) < f.words { // a mask of no bits changes nothing
			used |= used + 1
		}
		from := headerBytes + block*f.layout.record
		dst = appendDecimal(dst, from)
		dst = appendDecimal(dst, from+f.layout.record-1)
		for i, mask := range masks {
			if used>>i&1 == 1 {
				dst = append(dst, byte(8*i))
				dst = binary.LittleEndian.AppendUint64(dst, mask)
			}
		}
	}
	return dst
}

// appendDecimal appends a number's decimal digits, and before them how many there are.
func appendDecimal(dst []byte, n uint64) []byte {
	at := len(dst)
	dst = strconv.AppendUint(append(dst, 0), n, 10)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}
