// Package batch divides the keys of packages bitmap and bf into commands.
package batch

import (
	"context"
	"errors"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Indices returns the numbers from first to last-1.
func Indices(first, last int) []int {
	var all []int
	for i := first; i < last; i++ {
		all = append(all, i)
	}
	return all
}

// Unanswered returns the error of a command that adds n keys and has failed with err. The keys are unsure unless the
// server has certainly not executed the command.
func Unanswered(c *send.Call, n int, err error) error {
	if c.NotExecuted() {
		return &redisfilter.AddError{NotAdded: Indices(0, n), Err: err}
	}
	return &redisfilter.AddError{Unsure: Indices(0, n), Err: err}
}

// Repeated returns an error if the client has sent an add twice: the first command may have added the keys that were
// not new to the second. They are unsure.
func Repeated(c *send.Call, answers []bool) error {
	err := c.Repeated()
	if err == nil {
		return nil
	}
	failed := &redisfilter.AddError{Err: err}
	for i, yes := range answers {
		if !yes {
			failed.Unsure = append(failed.Unsure, i)
		}
	}
	return failed
}

// A command adds or looks up keys. If its error is not a redisfilter.AddError, no key was added.
type command func(ctx context.Context, add bool, keys [][]byte, answers []bool) error

// Run calls the function do for every 500 keys until an error, and counts the true answers. If add is true, the error
// is a redisfilter.AddError. Run panics for the nil Sender of a zero Filter.
func Run(ctx context.Context, sender *send.Sender, key string, add bool, keys [][]byte, answers []bool, do command) (count int, err error) {
	sender.Must()
	answers = send.Answers(len(keys), answers)
	for first := 0; first < len(keys); first += send.BatchKeys {
		last := min(first+send.BatchKeys, len(keys))
		if err = ctx.Err(); err == nil {
			err = do(ctx, add, keys[first:last], answers[first:last])
		}
		for _, yes := range answers[first:last] {
			if yes {
				count++
			}
		}
		if err == nil {
			continue
		}
		var failed *redisfilter.AddError
		ok := errors.As(err, &failed)
		if !ok {
			failed = &redisfilter.AddError{NotAdded: Indices(0, last-first), Err: err}
		}
		failed.Err = send.Explain(key, failed.Err)
		if !add {
			return count, failed.Err
		}
		for _, list := range [][]int{failed.Unsure, failed.NotAdded} {
			for i := range list {
				list[i] += first
			}
		}
		for _, i := range failed.Unsure {
			if !answers[i] {
				answers[i] = true
				count++
			}
		}
		failed.NotAdded = append(failed.NotAdded, Indices(last, len(keys))...)
		return count, failed
	}
	return count, nil
}
