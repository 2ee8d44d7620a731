// Package batch divides the keys of packages bitmap and module into commands.
package batch

import (
	"context"
	"errors"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A Result is the error of one command, and the indices of its keys without an answer.
type Result struct {
	Unknown, Unconfirmed, NotAdded []int
	Err                            error
}

// Indices returns first ... last-1.
func Indices(first, last int) []int {
	var all []int
	for i := first; i < last; i++ {
		all = append(all, i)
	}
	return all
}

// Failed returns the result of a command of n keys that has no reply.
func Failed(c *send.Call, n int, err error) Result {
	if c.NotExecuted() {
		return Result{NotAdded: Indices(0, n), Err: err}
	}
	return Result{Unknown: Indices(0, n), Err: err}
}

// Run calls do for every 500 keys until a command fails, and counts the true answers. The error is a
// redisfilter.AddError if keys are added.
func Run(ctx context.Context, key string, add bool, keys [][]byte, answers []bool, do func(keys [][]byte, answers []bool) Result) (count int, err error) {
	if answers == nil {
		answers = make([]bool, len(keys))
	}
	if len(answers) != len(keys) {
		panic("redisfilter: answers are neither nil nor as long as keys")
	}
	clear(answers)
	var failed redisfilter.AddError
	for first := 0; first < len(keys) && len(failed.NotAdded)+len(failed.Unknown) == 0; first += send.BatchKeys {
		last := min(first+send.BatchKeys, len(keys))
		r := Result{NotAdded: Indices(0, last-first), Err: ctx.Err()}
		if r.Err == nil {
			r = do(keys[first:last], answers[first:last])
		}
		r.Err = send.Explain(key, r.Err)
		for _, yes := range answers[first:last] {
			if yes {
				count++
			}
		}
		if r.Err == nil {
			continue
		}
		if !add {
			return count, r.Err
		}
		if failed.Err == nil {
			failed.Err = r.Err
		} else if failed.Err.Error() != r.Err.Error() {
			failed.Err = errors.Join(failed.Err, r.Err)
		}
		for _, list := range []struct{ to, from *[]int }{{&failed.Unknown, &r.Unknown}, {&failed.Unconfirmed, &r.Unconfirmed}, {&failed.NotAdded, &r.NotAdded}} {
			for _, i := range *list.from {
				*list.to = append(*list.to, first+i)
			}
		}
		if len(r.Unknown)+len(r.NotAdded) > 0 {
			failed.NotAdded = append(failed.NotAdded, Indices(last, len(keys))...)
		}
	}
	if failed.Err != nil {
		return count, &failed
	}
	return count, nil
}
