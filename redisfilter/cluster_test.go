package redisfilter_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestClusterMovesAndFailover: two handles add the same keys with WithWait while the slots of the
// filter move and a master is killed. Each key has one winner, or is reported, and no confirmed key is
// forgotten.
func TestClusterMovesAndFailover(t *testing.T) {
	cluster := redistest.StartCluster(t, 3, true)
	for _, k := range []kind{
		{"plain", 20_000, 1e-9, []option{redisfilter.WithShards(3)}}, {"growth", 2000, 1e-9, []option{growth}},
		{"window", 100_000, 1e-9, []option{window}},
	} {
		const keys = 3000
		var mu sync.Mutex
		won, unsure := make([]int, keys), make([]bool, keys)
		var all redistest.Group
		handles := make([]*filter, 2)
		for h := range handles {
			f, err := redisfilter.Open(bg, cluster.Client(), k.name, k.n, k.p, append(k.opts, redisfilter.WithWait(1, time.Second))...)
			require.NoError(t, err)
			handles[h] = f
			all.Go(func() {
				unconfirmed := false // then a new master may lack adds, and the handle is told
				for i := 0; i < keys; i += 20 {
					added := make([]bool, 20)
					_, err := f.AddMany(bg, keysOf(i, i+20), added)
					var failed *redisfilter.AddError
					ok := errors.As(err, &failed)
					unconfirmed = unconfirmed || errors.Is(err, redisfilter.ErrReplicas)
					mu.Lock()
					for j, yes := range added {
						if yes {
							won[i+j]++
						}
					}
					if ok {
						for _, j := range failed.Unsure {
							unsure[i+j] = true
						}
					}
					mu.Unlock()
					if err != nil && (!ok || len(failed.NotAdded) > 0 || !unconfirmed && errors.Is(err, redisfilter.ErrLost)) {
						t.Error(err)
						return
					}
				}
			})
		}
		for i := range 6 {
			masters := cluster.Masters()
			key := handles[0].Keys()[i%len(handles[0].Keys())]
			cluster.Move(key, masters[i%len(masters)])
		}
		if k.name == "plain" {
			node, err := cluster.Master(handles[0].Keys()[0])
			require.NoError(t, err)
			conn := node.Client.Conn() // a key that has just moved may not be on the replica yet
			require.NoError(t, conn.Set(bg, "{"+handles[0].Keys()[0]+"}", 1, 0).Err())
			require.EqualValues(t, 1, conn.Wait(bg, 1, 10*time.Second).Val())
			require.NoError(t, conn.Close())
			node.Kill()
			redistest.Eventually(t, "a replica takes over", func() error { _, err := cluster.Master(handles[0].Keys()[0]); return err })
			node.Start(t)
			node.Follows(t)
		}
		all.Wait()
		found := make([]bool, keys)
		_, err := handles[1].ContainsMany(bg, keysOf(0, keys), found)
		require.NoError(t, err)
		for i, n := range won {
			if !unsure[i] {
				require.Equal(t, 1, n, "%s: key %d", k.name, i)
				require.True(t, found[i])
			}
		}
	}
}
