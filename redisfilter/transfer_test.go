package redisfilter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestMergeComparesFirst: a part with other parameters is refused before anything is sent.
func TestMergeComparesFirst(t *testing.T) {
	s := redistest.Start(t)
	shards := redisfilter.WithShards(3)
	f := open(t, s.Client, 3000, 0.01, shards)
	_, err := f.AddMany(bg, keysOf(0, 500), nil)
	require.NoError(t, err)
	values := func() (all []string) {
		for _, name := range f.Keys() {
			all = append(all, s.Client.Get(bg, name).Val())
		}
		return all
	}
	before := values()
	for part := range 3 {
		for name, other := range map[string]*bloom.BloomFilter{
			"smaller": must(bloom.New(10, 0.01, bloom.WithStrategy(bloom.Blocked))),
			"larger":  must(bloom.New(100_000, 0.01, bloom.WithStrategy(bloom.Blocked))),
		} {
			local, err := redisfilter.NewLocal(3000, 0.01, shards)
			require.NoError(t, err)
			local.Filters()[part] = other
			require.ErrorIs(t, f.Merge(bg, local), bloom.ErrIncompatible, "%s part %d", name, part)
		}
	}
	require.Equal(t, before, values())
	n, err := f.ContainsMany(bg, keysOf(0, 500), nil)
	require.NoError(t, err)
	require.Equal(t, 500, n)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
