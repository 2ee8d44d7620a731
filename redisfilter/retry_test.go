package redisfilter_test

import (
	"context"
	"errors"
	"fmt"
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
		p.CutEvery.Store(7)
		unknown, wins := map[int]bool{}, 0
		for first := 0; first < 300; first += 10 {
			added := make([]bool, 10)
			n, err := f.AddAll(bg, keysOf(first, first+10), added)
			if err != nil {
				var failed *redisfilter.AddError
				ok := errors.As(err, &failed)
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

// TestRepeats: through a proxy that cuts replies, a single add has its right answer, and a key of a batch has it or is there.
func TestRepeats(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noCache)
		p.CutEvery.Store(7)
		for i := range 200 {
			added, err := f.Add(bg, keyOf(i/2))
			require.NoError(t, err)
			require.Equal(t, i%2 == 0, added, i)
		}
		unclear := 0
		for first := 1000; first < 1600; first += 20 {
			added := make([]bool, 20)
			_, err := f.AddMany(bg, keysOf(first, first+20), added)
			failed := &redisfilter.AddError{}
			if err != nil {
				require.ErrorAs(t, err, &failed)
				require.ErrorIs(t, err, redisfilter.ErrUnknown)
			}
			require.Equal(t, failed.Unknown, failed.Present)
			require.Equal(t, 20-len(failed.Present), count(added))
			unclear += len(failed.Present)
		}
		require.Positive(t, unclear)
		p.CutEvery.Store(0)
		n, err := f.ContainsMany(bg, keysOf(1000, 1600), nil)
		require.NoError(t, err)
		require.Equal(t, 600, n)
	})
}

// TestNeverSent: an add that fails before it is written to a connection is not added, also if somebody prints it.
func TestNeverSent(t *testing.T) {
	var down atomic.Bool
	breaker := redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		if !down.Load() || !isAdd(cmds[0]) {
			return send()
		}
		for _, cmd := range cmds {
			require.Contains(t, cmd.String(), "EVALSHA")
			cmd.SetErr(errors.New("down"))
		}
		return errors.New("down")
	})
	single, cluster := redistest.Start(t).Client, redistest.StartCluster(t, 3, false).Client()
	single.AddHook(breaker)
	cluster.OnNewNode(func(node *redis.Client) { node.AddHook(breaker) })
	for _, c := range []redis.UniversalClient{single, cluster} {
		for _, shards := range []int{1, 3} {
			f := open(t, c, 1000, 0.01, noCache, redisfilter.WithShards(shards))
			_, err := f.AddMany(bg, keysOf(0, 10), nil)
			require.NoError(t, err)
			down.Store(true)
			_, err = f.AddMany(bg, keysOf(10, 20), nil)
			require.ErrorContains(t, err, "10 keys not added")
			time.AfterFunc(50*time.Millisecond, func() { down.Store(false) })
			n, err := f.AddAll(bg, keysOf(10, 20), nil)
			require.NoError(t, err)
			require.Equal(t, 10, n)
			require.NoError(t, f.Delete(bg))
		}
	}
}

// TestReplica: a filter is not opened at a replica.
func TestReplica(t *testing.T) {
	s := redistest.Start(t)
	for i, k := range kinds[:3] {
		_, err := redisfilter.Open(bg, s.Client, names[i], k.n, k.p, k.opts...)
		require.NoError(t, err)
	}
	r := redistest.Start(t, "--replicaof", "127.0.0.1", fmt.Sprint(s.Port), "--repl-diskless-sync-delay", "0")
	r.Follows(t)
	for i, k := range kinds[:3] {
		_, err := redisfilter.Join(bg, r.Client, names[i])
		require.ErrorContains(t, err, "the server is a replica")
		_, err = redisfilter.Open(bg, r.Client, names[i], k.n, k.p, k.opts...)
		require.ErrorContains(t, err, "the server is a replica")
	}
}

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
