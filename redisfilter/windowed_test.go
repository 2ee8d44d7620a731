package redisfilter_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestClockSteps: the server's clock steps forward and back by up to three windows. A handle that only looks up finds
// each key that an add then finds. Without a step, it finds no other keys.
func TestClockSteps(t *testing.T) {
	s := redistest.Start(t)
	const length = 1000
	now, ours := int64(1_800_000_000_000), int64(0)
	defer redisfilter.SetClock(func() time.Duration { return time.Duration(ours) * time.Millisecond })()
	set := func() { s.Client.Set(bg, "clock", now, 0) }
	random := rand.New(rand.NewPCG(5, 6))
	forgotten, kept := 0, 0
	for round := range 60 {
		s.Client.Del(bg, "f")
		set()
		window := redisfilter.WithGenerations(length*time.Millisecond, 2)
		adder, reader := open(t, s.Client, 10_000, 1e-9, window), open(t, s.Client, 10_000, 1e-9, window)
		_, err := adder.AddMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		stepped := false
		for range 6 {
			pass := random.Int64N(2 * length)
			now, ours = now+pass, ours+pass
			if random.IntN(2) == 0 && round%3 > 0 {
				now += random.Int64N(18*length) - 9*length
				stepped = true
			}
			set()
			found, err := redistest.Each(bg, reader.ContainsMany, keysOf(0, 100))
			require.NoError(t, err)
			added, err := redistest.Each(bg, adder.AddMany, keysOf(0, 100))
			require.NoError(t, err)
			for i := range found {
				require.True(t, found[i] || added[i], "round %d: a lookup misses a key that an add finds", round)
				require.True(t, stepped || found[i] != added[i], "round %d: a lookup finds a key that an add does not find", round)
			}
			kept += count(found)
			forgotten += count(added)
		}
	}
	require.Greater(t, min(kept, forgotten), 1000)
}
