package redisfilter

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
)

// TestClusterFailover kills a node while the others live, and does not start it again. Both
// kinds of handles find the replica that takes over, by clients that look where the slots are
// only when they are told to.
func TestClusterFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: a failover in a cluster")
	}
	program(t, "redis-server")
	cluster, err := rediscluster.Start(bg, 3, true)
	require.NoError(t, err)
	defer cluster.Stop()
	openOne := func(opts ...Option) *Filter {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), ClusterStateReloadInterval: time.Hour})
		t.Cleanup(func() { client.Close() })
		return open(t, client, "seen", 10_000, 1e-6, append(opts, WithShards(3))...)
	}
	waiting, plain := openOne(WithWait(1, 2*time.Second)), openOne()
	_, err = waiting.AddMany(bg, keysOf(0, 2000), nil)
	require.NoError(t, err)

	node, err := cluster.Master(bg, "seen")
	require.NoError(t, err)
	node.Kill()
	eventually(t, "a replica takes over", func() error { _, err := cluster.Master(bg, "seen"); return err })
	next := 10_000
	for _, f := range []*Filter{waiting, plain} {
		eventually(t, "adds are taken again", func() error {
			added := make([]bool, 60)
			_, err := f.AddMany(bg, keysOf(next, next+60), added)
			next += 60
			failed, ok := errors.AsType[*AddError](err)
			if !ok {
				return err
			}
			if len(failed.NotAdded)+len(failed.Unknown) > 0 {
				return fmt.Errorf("%d not added, %d unknown: %w", len(failed.NotAdded), len(failed.Unknown), err)
			}
			return nil // the new master has no replica left
		})
	}
	n, err := plain.ContainsMany(bg, keysOf(0, 2000), nil)
	require.NoError(t, err)
	require.Equal(t, 2000, n, "what the replica had confirmed")
}
