package window

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key. It returns true if the key is definitely not remembered and this call is the
// one that added it, false if it is probably remembered: it was added in the last window, or
// in the rest of the generation before. Of any number of processes that add the same key at
// the same time, exactly one gets true; unless adding other keys has set all its bits before,
// an ordinary false positive, and then none does. A key that is remembered is not renewed.
//
// One round trip, the first add of a handle one more. If the reply is lost, the same command is
// sent again, up to three times, and gets the same reply. If none comes, the error is a
// [redisfilter.AddError] that wraps [redisfilter.ErrUnknown]. It wraps [redisfilter.ErrLost] if
// the filter is gone or has gone back to an older value; nothing was added then, unless the
// key is in Unknown.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	count, err := addMany(ctx, f, [][]byte{key}, nil)
	return count == 1, err
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(ctx context.Context, key string) (added bool, err error) {
	count, err := addMany(ctx, f, []string{key}, nil)
	return count == 1, err
}

// AddMany adds keys as [Filter.Add] does one after the other, in one round trip for each 500.
// It returns how many of them were definitely not remembered; if added is not nil, added[i]
// becomes what Add of keys[i] would return. Of equal keys in one batch, the first is the new
// one. It panics if added is neither nil nor as long as keys.
//
// If the error is not nil, it is a [redisfilter.AddError], which says which keys have no
// answer; the answers of the others are valid, and counted.
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
	for first := 0; first < len(keys); first += batchKeys {
		last := min(first+batchKeys, len(keys))
		reply, confirmed, unknown, err := f.add(ctx, last-first, pack(f, keys[first:last]))
		if err != nil {
			failed.Err = err
		}
		if reply != "" {
			count += send.Spread(reply, last-first, first, added)
			if !confirmed {
				failed.Unconfirmed = append(failed.Unconfirmed, send.Indices(first, last)...)
			}
			continue
		}
		if unknown {
			failed.Unknown = send.Indices(first, last)
			f.key.Counts.Unknown.Add(uint64(last - first))
			first = last
		}
		failed.NotAdded = send.Indices(first, len(keys))
		break
	}
	if failed.Err != nil {
		return count, &failed
	}
	return count, nil
}

// commandBytes is about what a command takes beside its keys.
const commandBytes = 300

// sendAgain is after which times a command is sent again whose reply was lost.
var sendAgain = []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond}

// add sends one command that adds so many keys, which are packed. Without a reply, unknown says
// that it may have been executed.
func (f *Filter) add(ctx context.Context, n int, packed []byte) (reply string, confirmed, unknown bool, err error) {
	l := f.life.Load()
	if err := f.key.Ready(ctx, l.Life); err != nil {
		return "", false, false, err
	}
	s, err := f.slot(ctx, l)
	if err != nil {
		return "", false, false, err
	}
	var a *lane
	select {
	case a = <-l.idle:
	case <-ctx.Done():
		return "", false, false, send.Explain(f.key.Name, ctx.Err())
	}
	defer func() { l.idle <- a }()
	// Should an earlier command of the lane still be on its way, the script refuses it after this one.
	a.number++
	args := f.common(l, s.At, s.At+laneAt-1, l.Owner, s.Least(), s.At+8, s.At+a.offset, s.At+a.offset+laneBytes-1, a.number, packed)
	f.key.Counts.Keys.Add(uint64(n))
	for try := 0; ; try++ {
		f.key.Counts.Bytes.Add(uint64(commandBytes + len(packed)))
		reply, command, err := f.key.Add(ctx, f.scripts.add, args)
		if command == nil {
			return "", false, true, send.Explain(f.key.Name, err)
		}
		if err == nil {
			if len(reply) < 8+(n+7)/8 {
				return "", false, true, f.key.Errorf("a reply of %d bytes to %d keys", len(reply), n)
			}
			s.See(math.Float64frombits(binary.LittleEndian.Uint64([]byte(reply))))
			err = f.key.Sender.Confirmed(command)
			return reply[8:], err == nil, false, err
		}
		if !send.NotExecuted(err) {
			unknown = true
		}
		if !unknown || send.IsReply(err) || try == len(sendAgain) {
			return "", false, unknown, f.key.Explain(l.Life, err)
		}
		select {
		case <-time.After(sendAgain[try]):
		case <-ctx.Done():
			return "", false, true, send.Explain(f.key.Name, errors.Join(ctx.Err(), err))
		}
	}
}
