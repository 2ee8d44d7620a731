package module

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Add adds a key, see redisfilter.Filter.Add: one winner, sent at most once.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	n, err := f.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see redisfilter.Filter.AddMany. It never makes a filter: if that is
// gone, the error wraps redisfilter.ErrLost. It wraps redisfilter.ErrFull when a filter that does
// not scale has refused keys; those are in AddError.NotAdded.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	added = room(keys, added)
	defer func() { count = trues(added) }()
	for first := 0; first < len(keys); first += send.BatchKeys {
		last := min(first+send.BatchKeys, len(keys))
		args := []any{"BF.INSERT", f.name, "NOCREATE", "ITEMS"}
		for _, key := range keys[first:last] {
			args = append(args, copyOf(key))
		}
		f.count(keys[first:last], 1)
		v, err := f.sender.DoOnce(ctx, args...)
		failed := &redisfilter.AddError{Err: f.explain(err)}
		if err == nil {
			failed.Unknown, failed.NotAdded, failed.Err = f.answers(v, added, first, last)
		} else if send.NotExecuted(err) {
			failed.NotAdded = send.Indices(first, last)
		} else {
			failed.Unknown = send.Indices(first, last)
		}
		if failed.Err != nil {
			f.counts.Unknown.Add(uint64(len(failed.Unknown)))
			failed.NotAdded = append(failed.NotAdded, send.Indices(last, len(keys))...)
			return 0, failed
		}
	}
	return 0, nil
}

// Contains returns false if the key was definitely never added, true if it probably
// was. The error wraps redisfilter.ErrLost if the filter is gone, and
// redisfilter.ErrMismatch if the key in Redis holds something else.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	n, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany asks for keys, see redisfilter.Filter.ContainsMany.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	found = room(keys, found)
	defer func() { count = trues(found) }()
	for first := 0; first < len(keys); first += send.BatchKeys {
		last := min(first+send.BatchKeys, len(keys))
		args := []any{"BF.MEXISTS", f.name}
		for _, key := range keys[first:last] {
			args = append(args, copyOf(key))
		}
		asked := redis.NewCmd(ctx, args...)
		// BF.MEXISTS answers 0 also where there is no filter. BF.INFO refuses then; it comes
		// second, so that what has gone before the answer is seen.
		looked := redis.NewCmd(ctx, "BF.INFO", f.name)
		f.count(keys[first:last], 2)
		if err := f.sender.Ask(ctx, []*send.Command{{Key: f.name, Cmd: asked}, {Key: f.name, Cmd: looked}}); err != nil {
			return 0, f.explain(err)
		}
		v, err := asked.Result()
		if err == nil {
			err = looked.Err()
		}
		if err != nil {
			return 0, f.explain(err)
		}
		if _, _, err := f.answers(v, found, first, last); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// count counts a round trip of so many commands.
func (f *Filter) count(keys [][]byte, commands int) {
	size := commands * (30 + len(f.name))
	for _, key := range keys {
		size += 7 + len(key)
	}
	f.counts.RoundTrips.Add(1)
	f.counts.Keys.Add(uint64(len(keys)))
	f.counts.Bytes.Add(uint64(size))
}

// room returns where answers go.
func room(keys [][]byte, answers []bool) []bool {
	if answers == nil {
		return make([]bool, len(keys))
	}
	send.CheckAnswers(len(keys), answers)
	return answers
}

func trues(answers []bool) (n int) {
	for _, yes := range answers {
		if yes {
			n++
		}
	}
	return n
}

// copyOf copies a key for a command that may outlive the call, when its context
// ends.
func copyOf(key []byte) []byte { return append(make([]byte, 0, len(key)), key...) }

// answers reads a reply of one element for each key: 0 or 1, in RESP3 a boolean, or an
// error for that key alone. unknown has the keys without an answer; refused those of a
// filter that is full, and of the commands behind it.
func (f *Filter) answers(reply any, answers []bool, first, last int) (unknown, refused []int, err error) {
	elements, ok := reply.([]any)
	if !ok || len(elements) > last-first {
		return send.Indices(first, last), nil, fmt.Errorf("redisfilter: key %q: unexpected reply %v, want %d answers", f.name, reply, last-first)
	}
	full := false
	for i, e := range elements {
		switch e := e.(type) {
		case int64:
			answers[first+i] = e != 0
		case bool:
			answers[first+i] = e
		default:
			err = f.explain(fmt.Errorf("%v", e))
			// A full filter is the module's only reason to end early: it leaves out the rest.
			if full = isFull(e) && i == len(elements)-1; full {
				refused = send.Indices(first+i, last)
			} else {
				unknown = append(unknown, first+i)
			}
		}
	}
	if len(elements) < last-first && !full {
		unknown = append(unknown, send.Indices(first+len(elements), last)...)
		if err == nil {
			err = fmt.Errorf("redisfilter: key %q: %d answers, want %d", f.name, len(elements), last-first)
		}
	}
	return unknown, refused, err
}

// isFull reports whether an element of a reply is the refusal of a full filter.
func isFull(element any) bool { return strings.Contains(fmt.Sprint(element), "is full") }
