//go:build !race

package redisfilter_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestCacheMemory: keys that the cache knows need no allocation, and a handle that only looks up has no cache. The race
// detector makes sync.Pool forget.
func TestCacheMemory(t *testing.T) {
	s := redistest.Start(t)
	defer stopClock(s)()
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	f, key := open(t, s.Client, 1_000_000, 1e-6), keyOf(1)
	size := f.Params().M / 8
	require.Greater(t, allocated(func() { _, err := f.Add(bg, key); require.NoError(t, err) }), size)
	require.Zero(t, testing.AllocsPerRun(100, func() { f.Add(bg, key); f.Contains(bg, key) }))
	require.Less(t, allocated(func() {
		g := open(t, s.Client, 1_000_000, 1e-6)
		for range 2 {
			found, err := g.Contains(bg, key)
			require.NoError(t, err)
			require.True(t, found)
		}
	}), size/4)
}
