package redisfilter_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestAddAll: through cut replies, a restart with a log and a restart without one, each key is new, known or listed.
func TestAddAll(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noCache)
		known := k.open(t, s.Client, noCache)
		_, err := known.AddMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		p.CutEvery.Store(3)
		unknown, wins := map[int]bool{}, 0
		for first := 0; first < 300; first += 10 {
			added := make([]bool, 10)
			n, err := f.AddAll(bg, keysOf(first, first+10), added)
			if err != nil {
				failed, ok := errors.AsType[*redisfilter.AddError](err)
				require.True(t, ok, err)
				require.ErrorIs(t, err, redisfilter.ErrUnknown)
				require.Empty(t, failed.NotAdded)
				for _, i := range failed.Unknown {
					unknown[first+i] = true
				}
			}
			require.Equal(t, count(added), n)
			for i, yes := range added {
				if yes {
					wins++
				}
				require.True(t, unknown[first+i] || yes == (first+i >= 100), first+i)
			}
		}
		p.CutEvery.Store(0)
		require.NotEmpty(t, unknown)

		// A loss is told, and does not stop.
		require.NoError(t, s.Client.FlushAll(bg).Err())
		n, err := f.AddAll(bg, keysOf(0, 20), nil)
		require.ErrorIs(t, err, redisfilter.ErrLost)
		require.Equal(t, 20, n)
		n, err = f.AddAll(bg, keysOf(0, 30), nil)
		require.NoError(t, err)
		require.Equal(t, 10, n)
	})
}

// TestAddAllEnds: with its context, and where trying again cannot help.
func TestAddAllEnds(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 0.01, redisfilter.WithWindow(time.Hour, 1), noCache)
	n, err := f.AddAll(bg, keysOf(0, 3000), nil)
	require.ErrorIs(t, err, redisfilter.ErrFull)
	require.Equal(t, 1000, n)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1, DialTimeout: 100 * time.Millisecond, DialerRetries: 1})
	t.Cleanup(func() { c.Close() })
	g := kind{n: 1000, p: 0.01}
	require.NoError(t, s.Client.FlushAll(bg).Err())
	down := g.open(t, c, noCache, redisfilter.WithShards(4)) // pipelines
	s.Kill()
	ctx, cancel := context.WithCancel(bg)
	var sent atomic.Int64
	c.AddHook(redistest.Hook(func(_ []redis.Cmder, send func() error) error {
		if sent.Add(1) == 20 { // in a later round, whose error says nothing of the server
			cancel()
		}
		return send()
	}))
	_, err = down.AddAll(ctx, keysOf(0, 10), nil)
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok, err)
	require.Len(t, failed.NotAdded, 10)
	require.ErrorContains(t, err, "dial tcp "+s.Addr)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	started := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { defer close(started); s.Start(t) })
	n, err = down.AddAll(bg, keysOf(0, 10), nil) // when the server is back, it is empty
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.Equal(t, 10, n)
	<-started // before the test ends the server
	require.NoError(t, c.Close())
	_, err = down.AddAll(bg, keysOf(20, 30), nil)
	require.ErrorIs(t, err, redis.ErrClosed)
}

// TestShortGenerations: adds that take longer than a generation end.
func TestShortGenerations(t *testing.T) {
	s := redistest.Start(t)
	slow := client(t, s.Addr, func(_ []redis.Cmder, send func() error) error {
		time.Sleep(3 * time.Millisecond)
		return send()
	})
	f := open(t, slow, 1000, 0.01, redisfilter.WithWindow(2*time.Millisecond, 2))
	_, err := f.AddMany(bg, keysOf(0, 10), nil)
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok, err)
	require.Len(t, failed.NotAdded, 10)
}
