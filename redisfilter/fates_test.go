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

// TestAddAllEnds: with its context, and where trying again cannot help.
func TestAddAllEnds(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 0.01, redisfilter.WithGenerations(time.Hour, 1), noCache)
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
	var failed *redisfilter.AddError
	ok := errors.As(err, &failed)
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
		time.Sleep(130 * time.Millisecond)
		return send()
	})
	f := open(t, slow, 1000, 0.01, redisfilter.WithGenerations(100*time.Millisecond, 2))
	_, err := f.AddMany(bg, keysOf(0, 10), nil)
	var failed *redisfilter.AddError
	ok := errors.As(err, &failed)
	require.True(t, ok, err)
	require.Len(t, failed.NotAdded, 10)
}
