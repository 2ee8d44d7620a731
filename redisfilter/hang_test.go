package redisfilter_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestHang logs how long a call without an end to its context waits for a node that hangs. README has the times.
// AddMany would go on for ever, see TestCallsEnd. TestWaits has contexts that end.
func TestHang(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: how long calls wait for a node that hangs")
	}
	single, cluster := redistest.Start(t), redistest.StartCluster(t, 3, false)
	master, err := cluster.Master("{f}")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		node   *redistest.Server
		client func() redis.UniversalClient
	}{
		"server":  {single, func() redis.UniversalClient { return redistest.Connect(t, &redis.Options{Addr: single.Addr}) }},
		"cluster": {master, func() redis.UniversalClient { return cluster.Client() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handles := map[string]*filter{}
			for call := range calls {
				if call == "AddMany" { // it tries for ever
					continue
				}
				f, err := redisfilter.Open(bg, c.client(), "{f}", 1000, 0.01, noCache, redisfilter.WithShards(4))
				require.NoError(t, err)
				_, err = f.AddMany(bg, keysOf(0, 100), nil)
				require.NoError(t, err)
				handles[call] = f
			}
			c.node.Hang(t)
			var all redistest.Group
			for call, f := range handles {
				all.Go(func() {
					began := time.Now()
					err := calls[call](f, 1000)
					t.Logf("%s: %.1f s", call, time.Since(began).Seconds())
					assert.ErrorContains(t, err, "i/o timeout")
					assert.Less(t, time.Since(began), time.Minute)
				})
			}
			all.Wait()
		})
	}
}
