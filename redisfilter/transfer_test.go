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

// TestLocal: single calls, batches and strings of a local filter agree with a filter in Redis, and with each other.
func TestLocal(t *testing.T) {
	s := redistest.Start(t)
	for _, shards := range []int{1, 5} {
		s.Client.FlushAll(bg)
		opts := []option{redisfilter.WithShards(shards), redisfilter.WithBloom(bloom.WithSecret([16]byte{9}))}
		f := open(t, s.Client, 20_000, 0.01, opts...)
		one, batches := must(redisfilter.NewLocal(20_000, 0.01, opts...)), must(redisfilter.NewLocal(20_000, 0.01, opts...))
		keys := append(keysOf(0, 10_000), keysOf(5000, 15_000)...)
		added, remote := make([]bool, len(keys)), make([]bool, len(keys))
		n := batches.AddMany(keys, added)
		require.Equal(t, count(added), n)
		_, err := f.AddMany(bg, keys, remote)
		require.NoError(t, err)
		require.Equal(t, remote, added)
		for i, key := range keys {
			require.Equal(t, added[i], one.Add(key))
		}
		asked := keysOf(10_000, 40_000)
		found := make([]bool, len(asked))
		require.Equal(t, batches.ContainsMany(asked, nil), batches.ContainsMany(asked, found))
		for i, key := range asked {
			require.Equal(t, found[i], one.Contains(key))
		}
		stats := one.Stats()
		require.Equal(t, batches.Stats(), stats)
		require.EqualValues(t, 20_000, stats.N)
		require.InEpsilon(t, 15_000, stats.EstimatedCount, 0.02)
		require.Equal(t, stats.M/8, one.SizeBytes())
		theirs := must(f.Stats(bg))
		require.InEpsilon(t, theirs.EstimatedFalsePositiveRate, stats.EstimatedFalsePositiveRate, 0.02)
		theirs.SizeBytes, theirs.EstimatedFalsePositiveRate = stats.SizeBytes, stats.EstimatedFalsePositiveRate
		theirs.EstimatedCount = stats.EstimatedCount
		require.Equal(t, theirs, stats)
		require.Panics(t, func() { one.AddMany(keys, make([]bool, 1)) })
		require.NotContains(t, one.String(), "zero")
	}
	require.Contains(t, new(redisfilter.Local).String(), "zero")
	require.ErrorIs(t, open(t, s.Client, 20_000, 0.01, redisfilter.WithShards(5), redisfilter.WithBloom(bloom.WithSecret([16]byte{9}))).
		Merge(bg, new(redisfilter.Local)), bloom.ErrIncompatible)
}
