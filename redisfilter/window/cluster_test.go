package window

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestCluster: the filter is in one slot, on whichever node that is.
func TestCluster(t *testing.T) {
	redistest.Program(t, "redis-server")
	cluster, err := rediscluster.Start(bg, 3, false)
	require.NoError(t, err)
	defer cluster.Stop()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()[:1]})
	defer client.Close()
	for _, name := range []string{"a", "b", "c", "{tag}d", "e{", "f g"} {
		f, err := Open(bg, client, name, 1000, 1e-6, time.Hour, 4)
		require.NoError(t, err)
		n, err := f.AddMany(bg, redistest.KeysOf(0, 700), nil)
		require.NoError(t, err)
		require.Equal(t, 700, n)
		n, err = f.ContainsMany(bg, redistest.KeysOf(0, 800), nil)
		require.NoError(t, err)
		require.Equal(t, 700, n)
		require.NoError(t, f.Delete(bg))
	}
}

// TestMovesAndFailover has two handles add the same keys while the slot is moved from node to node
// and the node that has it is killed. Each key has one winner, or one of the handles was told
// that it may not.
func TestMovesAndFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: a failover in a cluster")
	}
	redistest.Program(t, "redis-server")
	cluster, err := rediscluster.Start(bg, 3, true)
	require.NoError(t, err)
	defer cluster.Stop()
	const keys, size, afterwards = 12_000, 50, 100
	var wins [keys]int
	var unsure [keys]bool
	var handles [2]*Filter
	for i := range handles {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
		defer client.Close()
		handles[i], err = Open(bg, client, "w", keys, 1e-6, time.Hour, 1, WithWait(1, 500*time.Millisecond))
		require.NoError(t, err)
	}
	add := func(f *Filter, from int) {
		redistest.Eventually(t, "keys are added", func() error {
			added := make([]bool, size)
			_, err := f.AddMany(bg, redistest.KeysOf(from, from+size), added)
			failed := new(redisfilter.AddError)
			if err != nil {
				require.ErrorAs(t, err, &failed)
				require.NotErrorIs(t, err, redisfilter.ErrLost)
			}
			for _, i := range failed.Unknown {
				unsure[from+i] = true
			}
			for _, i := range failed.Unconfirmed {
				unsure[from+i] = from < keys-afterwards // the new master stays
			}
			for i, yes := range added {
				if yes {
					wins[from+i]++
				}
			}
			if len(failed.NotAdded) > 0 {
				return err
			}
			return nil
		})
	}
	moving := make(chan error, 1)
	random := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < keys; i += size {
		switch i {
		case keys / 3:
			go func() {
				for j := range 6 {
					if err := cluster.Move(bg, "w", cluster.Nodes[j%3]); err != nil {
						moving <- err
						return
					}
				}
				moving <- nil
			}()
		case keys - afterwards:
			require.NoError(t, <-moving)
			node, err := cluster.Master(bg, "w")
			require.NoError(t, err)
			node.Kill()
		}
		first := random.IntN(2)
		add(handles[first], i)
		add(handles[1-first], i)
	}
	reported := 0
	for i, n := range wins {
		if unsure[i] {
			reported++
		} else if n != 1 {
			t.Fatalf("key %d has %d winners", i, n)
		}
	}
	for _, f := range handles {
		found, err := f.ContainsMany(bg, redistest.KeysOf(0, keys), nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, found, keys-reported)
	}
	t.Logf("%d keys with one winner, %d reported", keys-reported, reported)
}
