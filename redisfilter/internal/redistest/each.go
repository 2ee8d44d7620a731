package redistest

import "context"

// A Set is what the filters in Redis have in common.
type Set interface {
	AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error)
	ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error)
}

// AddEach adds keys and returns an answer for each.
func AddEach(ctx context.Context, set Set, keys [][]byte) ([]bool, error) {
	added := make([]bool, len(keys))
	n, err := set.AddMany(ctx, keys, added)
	if n != Count(added) {
		panic("AddMany has miscounted")
	}
	return added, err
}

// AskEach asks for keys and returns an answer for each.
func AskEach(ctx context.Context, set Set, keys [][]byte) ([]bool, error) {
	found := make([]bool, len(keys))
	n, err := set.ContainsMany(ctx, keys, found)
	if n != Count(found) {
		panic("ContainsMany has miscounted")
	}
	return found, err
}
