package rediscluster_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestMoveAndFailover moves a key to another node, kills that one, and reads the key.
func TestMoveAndFailover(t *testing.T) {
	redistest.Program(t, "redis-server")
	ctx := t.Context()
	c, err := rediscluster.Start(ctx, 3, true)
	require.NoError(t, err)
	defer c.Stop()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	defer client.Close()
	require.NoError(t, client.Set(ctx, "key", "value", 0).Err())
	from, err := c.Master(ctx, "key")
	require.NoError(t, err)
	to := c.Nodes[0]
	if to == from {
		to = c.Nodes[1]
	}
	require.NoError(t, c.Move(ctx, "key", to))
	now, err := c.Master(ctx, "key")
	require.NoError(t, err)
	require.Same(t, to, now)
	require.Equal(t, "value", client.Get(ctx, "key").Val())

	redistest.Eventually(t, "the replica has the key", func() error {
		conn := to.Client.Conn()
		defer conn.Close()
		if err := conn.Set(ctx, "{key}2", 1, 0).Err(); err != nil {
			return err
		}
		if n, err := conn.Wait(ctx, 1, 0).Result(); n != 1 {
			return errors.Join(errors.New("not confirmed"), err)
		}
		return nil
	})
	to.Kill()
	require.NoError(t, rediscluster.Await(ctx, "the replica is the master", func() error {
		now, err = c.Master(ctx, "key")
		return err
	}))
	require.NotSame(t, to, now)
	require.NoError(t, to.Start(ctx))
	require.NoError(t, to.Follows(ctx))
	redistest.Eventually(t, "the key is there", func() error {
		if v, err := client.Get(ctx, "key").Result(); v != "value" {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
}
