package redisfilter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestCluster does everything on a filter whose shards are on three nodes.
func TestCluster(t *testing.T) {
	nodes, client := startCluster(t)
	const n = 20000
	f := open(t, client, "seen", n, 1e-4, WithShards(6), WithTTL(time.Hour))
	for _, node := range nodes {
		require.Positive(t, node.Client.DBSize(bg).Val(), "every node has a part")
	}
	local, err := f.NewLocal()
	require.NoError(t, err)
	want, _ := addEach(bg, local, keysOf(0, 5000))
	added, err := addEach(bg, f, keysOf(0, 5000))
	require.NoError(t, err)
	require.Equal(t, want, added)
	requireSameBits(t, client, f, local)

	more, err := f.NewLocal()
	require.NoError(t, err)
	addEach(bg, more, keysOf(5000, 9000))
	require.NoError(t, f.Merge(bg, more.Filters()...))
	require.NoError(t, f.Pull(bg, local.Filters()...))
	requireSameBits(t, client, f, local)
	require.NoError(t, f.Push(bg, more.Filters()...))
	requireSameBits(t, client, f, more)
	info, err := f.Info(bg)
	require.NoError(t, err)
	require.InDelta(t, 4000, info.EstimatedCount, 100)

	// A cluster client would run a transaction again whose reply was lost.
	deaf := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nodes[0].Addr}})
	defer deaf.Close()
	sent := 0
	lose := redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		err := send()
		if isTransaction(cmds) {
			sent++
			err = io.EOF
		}
		return err
	})
	deaf.OnNewNode(func(node *redis.Client) { node.AddHook(lose) })
	f.sender.Client = deaf
	require.ErrorIs(t, f.Push(bg, more.Filters()...), io.EOF)
	require.Equal(t, 1, sent)
	f.sender.Client = client
	require.NoError(t, f.Reopen(bg))
	requireSameBits(t, client, f, more)

	require.NoError(t, client.Del(bg, f.Keys()[3]).Err())
	_, err = addEach(bg, f, keysOf(0, 1000))
	require.ErrorIs(t, err, ErrLost)
	require.NoError(t, f.Reopen(bg))
	_, err = addEach(bg, f, keysOf(0, 1000))
	require.NoError(t, err)
	found, err := askEach(bg, f, keysOf(0, 1000))
	require.NoError(t, err)
	require.Equal(t, 1000, count(found))
	require.NoError(t, f.Delete(bg))
	for _, node := range nodes {
		require.Zero(t, node.Client.DBSize(bg).Val())
	}
}

// TestClusterReshard moves a filter's key to another node while clients add.
func TestClusterReshard(t *testing.T) { reshard(t) }

// TestClusterReshardWait does so with clients that address the nodes themselves.
// There are no replicas: each confirmation is refused, but none of the adds.
func TestClusterReshardWait(t *testing.T) { reshard(t, WithWait(1, time.Millisecond)) }

func reshard(t *testing.T, opts ...Option) {
	nodes, client := startCluster(t)
	const keys = 20000
	size := 20
	if opts != nil {
		size = 250 // each batch waits in vain for some 50 ms
	}
	f := open(t, client, "seen", keys, 1e-6)
	slot := nodes[0].Client.ClusterKeySlot(bg, "seen").Val()
	from := nodes[slot/(16384/3)]
	to := nodes[(slot/(16384/3)+1)%3]
	fromID, toID := from.Client.ClusterMyID(bg).Val(), to.Client.ClusterMyID(bg).Val()

	var wins [keys]int32
	var mu sync.Mutex
	var all sync.WaitGroup
	unknown := 0
	step := make(chan struct{})
	for c := range 2 {
		all.Go(func() {
			g := open(t, client, "seen", keys, 1e-6, opts...)
			for i := 0; i < keys; i += size {
				if i == 1000 && c == 0 {
					close(step)
				}
				added, err := addEach(bg, g, keysOf(i, i+size))
				mu.Lock()
				if failed, ok := errors.AsType[*AddError](err); ok {
					assert.Empty(t, failed.NotAdded, "refusals are redirected, not reported: %v", err)
					unknown += len(failed.Unknown) + len(failed.Unconfirmed)
				}
				for j, yes := range added {
					if yes {
						wins[i+j]++
					}
				}
				mu.Unlock()
			}
		})
	}
	<-step
	require.NoError(t, to.Client.Do(bg, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID).Err())
	require.NoError(t, from.Client.Do(bg, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID).Err())
	require.NoError(t, from.Client.Migrate(bg, "127.0.0.1", fmt.Sprint(to.Port), "seen", 0, 5*time.Second).Err())
	time.Sleep(20 * time.Millisecond) // in which clients are sent from one node to the other
	for _, n := range []*server{to, from} {
		require.NoError(t, n.Client.Do(bg, "CLUSTER", "SETSLOT", slot, "NODE", toID).Err())
	}
	all.Wait()
	if opts != nil {
		found, err := askEach(bg, f, keysOf(0, keys))
		require.NoError(t, err)
		require.Equal(t, keys, count(found))
		return
	}
	require.Zero(t, unknown)
	for i, n := range wins {
		if n != 1 {
			t.Fatalf("key %d has %d winners", i, n)
		}
	}
	found, err := askEach(bg, f, keysOf(0, keys))
	require.NoError(t, err)
	require.Equal(t, keys, count(found))
	require.Equal(t, int64(1), to.Client.Exists(bg, "seen").Val())
}

// TestClusterWait: WAIT must speak of the node that has taken the add.
func TestClusterWait(t *testing.T) {
	nodes, client := startCluster(t)
	slot := nodes[0].Client.ClusterKeySlot(bg, "seen").Val()
	primary := nodes[slot/(16384/3)]
	f := open(t, client, "seen", 10000, 1e-6, WithShards(3), WithWait(1, 50*time.Millisecond))
	_, err := addEach(bg, f, keysOf(0, 100))
	require.ErrorIs(t, err, ErrReplicas, "there are none yet")
	failed, ok := errors.AsType[*AddError](err)
	require.True(t, ok)
	require.Len(t, failed.Unconfirmed, 100, "each was added at the right node, and not confirmed")

	bus := freePort(t)
	replica := startServer(t, "--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(bus))
	require.NoError(t, replica.Client.Do(bg, "CLUSTER", "MEET", "127.0.0.1", nodes[0].Port, nodes[0].Args[3]).Err())
	eventually(t, "the replica knows its primary", func() error {
		return replica.Client.ClusterReplicate(bg, primary.Client.ClusterMyID(bg).Val()).Err()
	})
	eventually(t, "one shard is confirmed, the others are not", func() error {
		added, err := addEach(bg, f, keysOf(100, 400))
		if e, ok := errors.AsType[*AddError](err); !ok || len(e.Unconfirmed) == 300 || len(e.NotAdded) > 0 {
			return fmt.Errorf("%d added, %v", count(added), err)
		}
		return nil
	})
}

// TestSentinel fails over while a client adds.
func TestSentinel(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: a failover by Sentinel")
	}
	path := program(t, "redis-sentinel")
	primary := startServer(t, "--repl-diskless-sync-delay", "0")
	replica := startServer(t, "--replicaof", fmt.Sprintf("127.0.0.1 %d", primary.Port), "--repl-diskless-sync-delay", "0")
	awaitReplica(t, primary)
	sentinel := &server{Port: freePort(t), Dir: t.TempDir()}
	sentinel.Addr = fmt.Sprintf("127.0.0.1:%d", sentinel.Port)
	config := filepath.Join(sentinel.Dir, "sentinel.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `port %d
bind 127.0.0.1
dir %s
logfile log
sentinel monitor crawl 127.0.0.1 %d 1
sentinel down-after-milliseconds crawl 500
sentinel failover-timeout crawl 3000
`, sentinel.Port, sentinel.Dir, primary.Port), 0o600))
	sentinel.Run(t, path, config)
	t.Cleanup(sentinel.Kill)
	s := redis.NewSentinelClient(&redis.Options{Addr: sentinel.Addr})
	defer s.Close()
	eventually(t, "Sentinel knows the replica", func() error {
		replicas, err := s.Replicas(bg, "crawl").Result()
		if err == nil && len(replicas) != 1 {
			err = fmt.Errorf("%d replicas", len(replicas))
		}
		return err
	})

	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "crawl", SentinelAddrs: []string{sentinel.Addr}})
	defer client.Close()
	f := open(t, client, "f", 100000, 1e-9, WithWait(1, 2*time.Second)) // a busy machine may be slow to confirm
	confirmed := 0
	for ; confirmed < 2000; confirmed++ {
		added, err := f.Add(bg, keyOf(confirmed))
		require.NoError(t, err)
		require.True(t, added)
	}
	primary.Kill()
	failures := 0
	g := open(t, replica.Client, "f", 100000, 1e-9) // until it is a primary, it only answers
	eventually(t, "adds are taken again, by the replica", func() error {
		_, err := f.Add(bg, keyOf(confirmed))
		if errors.Is(err, ErrReplicas) {
			return nil // the new primary has no replica left
		}
		failures++
		return err
	})
	found, err := askEach(bg, g, keysOf(0, confirmed))
	require.NoError(t, err)
	require.Equal(t, confirmed, count(found))
	h := open(t, client, "f", 100000, 1e-9)
	added, err := addEach(bg, h, keysOf(confirmed+1, confirmed+100))
	require.NoError(t, err)
	require.Equal(t, 99, count(added))
	t.Logf("%d adds confirmed before the failover, 0 lost; %d adds failed meanwhile, each with an error", confirmed, failures)
}
