package redistest

import "context"

// A Set is what the filters in Redis have in common.
type Set interface {
	AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error)
	ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error)
}

// AddEach adds keys and returns an answer for each.
func AddEach(ctx context.Context, set Set, keys [][]byte) ([]bool, error) {
	return each(ctx, set.AddMany, keys)
}

// AskEach asks for keys and returns an answer for each.
func AskEach(ctx context.Context, set Set, keys [][]byte) ([]bool, error) {
	return each(ctx, set.ContainsMany, keys)
}

func each(ctx context.Context, many func(context.Context, [][]byte, []bool) (int, error), keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	n, err := many(ctx, keys, answers)
	if n != Count(answers) {
		panic("a batch was miscounted")
	}
	return answers, err
}
