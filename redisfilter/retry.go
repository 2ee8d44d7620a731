package redisfilter

import (
	"context"
	"errors"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// AddAll adds keys as [Filter.AddMany] does, and tries those again that were not added: while the server is down, loading or
// full, a failover lasts or a cluster slot moves; after [ErrLost], it reopens the filter and goes on. It ends when each key
// has an answer or was given up, or with ctx.
//
// A key without a reply is given up, because another add would prove nothing: it is in AddError.Unknown, and may be new.
// AddError.NotAdded has keys only if ctx has ended, or if trying again cannot help: [ErrFull] and [ErrMismatch]. The error
// wraps [ErrLost] if keys were lost before or meanwhile, also if all keys have answers.
func (f *Filter) AddAll(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	added = send.Answers(len(keys), added)
	var failed AddError
	var causes causes
	todo := make([]int, len(keys))
	for i := range todo {
		todo[i] = i
	}
	for pause := 10 * time.Millisecond; len(todo) > 0; pause = min(2*pause, time.Second) {
		rest, answers := make([][]byte, len(todo)), make([]bool, len(todo))
		for j, i := range todo {
			rest[j] = keys[i]
		}
		n, err := f.AddMany(ctx, rest, answers)
		count += n
		for j, i := range todo {
			added[i] = answers[j]
		}
		once, ok := errors.AsType[*AddError](err)
		if !ok {
			break
		}
		pick := func(list []int) (picked []int) {
			for _, j := range list {
				picked = append(picked, todo[j])
			}
			return picked
		}
		failed.Unknown = append(failed.Unknown, pick(once.Unknown)...)
		failed.Unconfirmed = append(failed.Unconfirmed, pick(once.Unconfirmed)...)
		todo = pick(once.NotAdded)
		lost := errors.Is(err, ErrLost)
		if len(once.Unknown) > 0 || len(once.Unconfirmed) > 0 || lost {
			causes.note("", once.Err)
		}
		if len(todo) == 0 {
			break
		}
		if lost {
			f.Reopen(ctx) // if it fails, the filter is still lost the next time
		}
		if timer := time.NewTimer(pause); !errors.Is(err, ErrFull) && !errors.Is(err, ErrMismatch) {
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
			}
		}
		causes.note("", once.Err)
		failed.NotAdded = todo
		break
	}
	if failed.Err = causes.err(); failed.Err == nil {
		return count, nil
	}
	return count, &failed
}
