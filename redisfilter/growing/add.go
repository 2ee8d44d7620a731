package growing

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key. It returns true if the key is definitely new and this call is the one that
// added it, false if it was probably there already. Of any number of processes that add the same
// new key at the same time, exactly one gets true; unless adding other keys has set all its bits
// before, an ordinary false positive, and then none does.
//
// One round trip; the first add of a handle one more, and the one with which the filter grows, two
// more at most. An add is sent at most once: if its reply is lost, the error is a
// [redisfilter.AddError] that wraps [redisfilter.ErrUnknown]. It wraps [redisfilter.ErrLost] if the
// filter is gone or has gone back to an older value, and [redisfilter.ErrFull] if the key is new and there is
// no room for it; nothing was added then.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	count, err := f.AddMany(ctx, [][]byte{key}, nil)
	return count == 1, err
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(ctx context.Context, key string) (added bool, err error) {
	count, err := f.AddStrings(ctx, []string{key}, nil)
	return count == 1, err
}

// AddMany adds keys as [Filter.Add] does one after the other, in one round trip for each 500.
// It returns how many of them were definitely new; if added is not nil, added[i] becomes what Add
// of keys[i] would return. Of equal keys in one batch, the first is the new one. It panics if added
// is neither nil nor as long as keys.
//
// If the error is not nil, it is a [redisfilter.AddError], which says which keys have no
// answer; the answers of the others are valid, and counted. It stops at the first key for
// which there is no room.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return addMany(ctx, f, keys, added)
}

// AddStrings is [Filter.AddMany] for strings, without copying them.
func (f *Filter) AddStrings(ctx context.Context, keys []string, added []bool) (count int, err error) {
	return addMany(ctx, f, keys, added)
}

func addMany[K []byte | string](ctx context.Context, f *Filter, keys []K, added []bool) (count int, err error) {
	send.CheckAnswers(len(keys), added)
	var failed redisfilter.AddError
	l := f.life.Load()
	hashes := hashesOf(f, keys)
	want := l.layers.Load() // layers
	for first := 0; first < len(keys); {
		last := min(first+send.BatchKeys, len(keys))
		r, err := f.add(ctx, l, want, hashes[first:last])
		switch {
		case err == nil:
		case r.fate == unconfirmed: // the other keys may be confirmed
			failed.Err = err
			failed.Unconfirmed = append(failed.Unconfirmed, send.Indices(first, first+r.done)...)
		default:
			failed.Err = err
			if r.fate == unknown {
				failed.Unknown = send.Indices(first, last)
				f.key.Counts.Unknown.Add(uint64(last - first))
				first = last
			}
			failed.NotAdded = send.Indices(first, len(keys))
			return count, &failed
		}
		count += send.Spread(r.bits, r.done, first, added)
		first += r.done
		if want = r.layers; first < last {
			want++ // the newest has no room
		}
	}
	if failed.Err != nil {
		return count, &failed
	}
	return count, nil
}

// A fate is what has become of the keys of an add that failed.
type fate int

const (
	notAdded    fate = iota // it was definitely not executed
	unknown                 // it may have been
	unconfirmed             // it was, and its answers are known
)

// A result is what is known of an add.
type result struct {
	fate   fate   // if there is an error
	layers uint64 // that there are
	done   int    // so many keys were looked at
	bits   string // an answer for each
}

// add adds keys to a filter that has so many layers, or opens the last of them.
func (f *Filter) add(ctx context.Context, l *life, want uint64, hashes []hash) (result, error) {
	if err := f.key.Ready(ctx, l.Life); err != nil {
		return result{}, err
	}
	s, err := f.slot(ctx, l)
	if err != nil {
		return result{}, err
	}
	for {
		layers, err := f.grown(l, want)
		if err != nil {
			return result{}, err
		}
		r, err := f.sendAdd(ctx, l, s, layers, hashes)
		more, ok := layersOf(err)
		if !ok {
			return r, err
		}
		if more <= want || !f.canHave(more) {
			return result{}, f.key.Lost(l.Life, wrongLayers)
		}
		l.see(more)
		want = more
	}
}

// grown returns the first so many layers. If these are more than there are known to be, this
// handle's limit counts.
func (f *Filter) grown(l *life, want uint64) ([]layer, error) {
	limit := uint64(onekey.MaxValue)
	if want > l.layers.Load() {
		limit = f.limit
	}
	layers, err := f.layers(int(want), limit)
	if err != nil {
		return nil, fmt.Errorf("%w: key %q: %w", redisfilter.ErrFull, f.key.Name, err)
	}
	return layers[:want], nil
}

// wrongLayers is how a filter was lost for which canHave says no.
const wrongLayers = "its number of layers is none that it can have"

// canHave reports whether a value can have so many layers.
func (f *Filter) canHave(layers uint64) bool {
	if layers < 1 || layers > maxLayers {
		return false
	}
	_, err := f.layers(int(layers), onekey.MaxValue)
	return err == nil
}

// sendAdd sends the script that adds.
func (f *Filter) sendAdd(ctx context.Context, l *life, s *onekey.Slot, layers []layer, hashes []hash) (result, error) {
	newest := layers[len(layers)-1]
	before := newest
	if len(layers) > 1 {
		before = layers[len(layers)-2]
	}
	data := f.pack(layers, hashes)
	args := []any{l.Epoch, s.At, s.At + slotBytes - 1, l.Owner, s.Least(), len(layers),
		newest.end, newest.end + epochBytes - 1, before.end, before.end + epochBytes - 1, newest.keys, data}
	f.key.Counts.Keys.Add(uint64(len(hashes)))
	f.key.Counts.Bytes.Add(uint64(250 + len(f.key.Name) + len(data)))
	reply, command, err := f.key.Add(ctx, f.scripts.add, args)
	if err != nil {
		r := result{fate: unknown}
		if send.NotExecuted(err) {
			r.fate = notAdded
		}
		if _, more := layersOf(err); more {
			return r, err
		}
		return r, f.key.Explain(l.Life, err)
	}
	r, count, ok := decodeReply(reply, len(layers), len(hashes))
	if !ok {
		return result{fate: unknown}, f.key.Errorf("a reply of %d bytes to %d keys that the script does not give", len(reply), len(hashes))
	}
	s.See(count)
	l.see(r.layers)
	if err := f.key.Sender.Confirmed(command); err != nil {
		r.fate = unconfirmed
		return r, err
	}
	return r, nil
}

// decodeReply reads what scriptAdd answers.
func decodeReply(reply string, layers, keys int) (r result, count float64, ok bool) {
	const head = 4 * 8
	if len(reply) < head {
		return r, 0, false
	}
	number := func(i int) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(reply[i*8 : i*8+8])))
	}
	done := wholeOf(number(3))
	if done > uint64(keys) || uint64(len(reply)-head) != (done+7)/8 || number(1) != float64(layers) {
		return r, 0, false
	}
	return result{layers: uint64(layers), done: int(done), bits: reply[head:]}, number(0), true
}

// layersOf returns how many layers there are, if the script has refused to add because
// there are more than the keys were packed for.
func layersOf(err error) (layers uint64, more bool) {
	if err == nil || !send.IsReply(err) {
		return 0, false
	}
	text, more := strings.CutPrefix(err.Error(), saysMore+" ")
	if !more {
		return 0, false
	}
	text, _, _ = strings.Cut(text, " ")
	layers, err = strconv.ParseUint(text, 10, 64)
	return layers, err == nil
}
