package bitmap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// many is AddMany and ContainsMany.
func (f *Filter) many(ctx context.Context, add bool, keys [][]byte, answers []bool) (count int, err error) {
	send.CheckAnswers(len(keys), answers)
	if answers == nil {
		answers = make([]bool, len(keys))
	}
	var failed redisfilter.AddError
	for first := 0; first < len(keys); first += send.BatchKeys {
		last := min(first+send.BatchKeys, len(keys))
		fate, err := notAdded, ctx.Err()
		if err == nil {
			fate, err = f.batch(ctx, add, keys[first:last], answers[first:last])
		}
		err = send.Explain(f.key, err)
		for _, yes := range answers[first:last] {
			if yes {
				count++
			}
		}
		switch {
		case err == nil:
			continue
		case !add:
			return count, err
		case failed.Err == nil:
			failed.Err = err
		case failed.Err.Error() != err.Error():
			failed.Err = errors.Join(failed.Err, err)
		}
		switch here := send.Indices(first, last); fate {
		case unconfirmed: // the other keys may be confirmed
			failed.Unconfirmed = append(failed.Unconfirmed, here...)
			continue
		case unknown:
			f.counts.Unknown.Add(uint64(len(here)))
			failed.Unknown = append(failed.Unknown, here...)
		case notAdded:
			failed.NotAdded = append(failed.NotAdded, here...)
		}
		failed.NotAdded = append(failed.NotAdded, send.Indices(last, len(keys))...)
		return count, &failed
	}
	if failed.Err == nil {
		return count, nil
	}
	return count, &failed
}

// A fate is what has become of the keys of a command that failed.
type fate int

const (
	unknown     fate = iota
	notAdded         // it was definitely not executed
	unconfirmed      // it was executed, and its answers are known
)

// batch adds or asks for the keys of one command.
func (f *Filter) batch(ctx context.Context, add bool, keys [][]byte, answers []bool) (fate, error) {
	var positions []uint64
	for i, key := range keys {
		positions = f.positions.AppendPositions(positions, key)
		if n := len(positions) - i*f.k; n != f.k {
			panic(fmt.Sprintf("redisfilter: %d positions for a key and %d for another, want as many", n, f.k))
		}
	}
	args := make([]any, 0, 2+4*len(positions))
	if add {
		args = append(args, "BITFIELD", f.key)
	} else {
		args = append(args, "BITFIELD_RO", f.key)
	}
	for i := range positions {
		if add {
			args = append(args, "SET", "u1", &positions[i], 1)
		} else {
			args = append(args, "GET", "u1", &positions[i])
		}
	}
	values := redis.NewIntSliceCmd(ctx, args...)
	command := &send.Command{Key: f.key, Cmd: values}
	way := f.sender.Ask
	if add {
		command.Cmd, way = send.OnceInts{IntSliceCmd: values}, f.sender.Add
	}
	f.counts.RoundTrips.Add(1)
	f.counts.Keys.Add(uint64(len(keys)))
	f.counts.Bytes.Add(uint64(40 + len(f.key) + 30*len(positions)))
	if err := way(ctx, []*send.Command{command}); err != nil {
		return unknown, err
	}
	bits, err := values.Result()
	if err != nil {
		if send.NotExecuted(err) {
			return notAdded, err
		}
		return unknown, err
	}
	if len(bits) != len(positions) {
		return unknown, fmt.Errorf("%d replies, want %d", len(bits), len(positions))
	}
	for i := range keys {
		answers[i] = slices.Contains(bits[i*f.k:(i+1)*f.k], 0) == add
	}
	return unconfirmed, f.sender.Confirmed(command)
}
