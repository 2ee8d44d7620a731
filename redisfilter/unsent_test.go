package redisfilter_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

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
