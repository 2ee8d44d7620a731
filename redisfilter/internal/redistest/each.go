package redistest

import "context"

// Each calls AddMany or ContainsMany of a filter, and returns an answer for each key.
func Each(ctx context.Context, many func(context.Context, [][]byte, []bool) (int, error), keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	n, err := many(ctx, keys, answers)
	if n != Count(answers) {
		panic("a batch was miscounted")
	}
	return answers, err
}
