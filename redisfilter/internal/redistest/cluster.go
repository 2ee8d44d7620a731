package redistest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// StartCluster starts a cluster of three nodes without replicas.
func StartCluster(t testing.TB) ([]*Server, *redis.ClusterClient) {
	t.Helper()
	var nodes []*Server
	var addrs []string
	for range 3 {
		bus := FreePort(t)
		nodes = append(nodes, Start(t, "--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(bus), "--cluster-node-timeout", "5000"))
		addrs = append(addrs, nodes[len(nodes)-1].Addr)
	}
	for i, n := range nodes {
		// Nodes with one epoch have to agree which of them gets another.
		require.NoError(t, n.Client.Do(context.Background(), "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		require.NoError(t, n.Client.ClusterAddSlotsRange(context.Background(), i*16384/3, (i+1)*16384/3-1).Err())
		if i > 0 {
			bus := nodes[0].Args[3]
			require.NoError(t, n.Client.Do(context.Background(), "CLUSTER", "MEET", "127.0.0.1", nodes[0].Port, bus).Err())
		}
	}
	for _, n := range nodes {
		Eventually(t, "the cluster is whole", func() error {
			info := n.Client.ClusterInfo(context.Background()).Val()
			if have := Lines(info); !slices.Contains(have, "cluster_state:ok") || !slices.Contains(have, "cluster_size:3") {
				return errors.New(info)
			}
			return nil
		})
	}
	oneEpoch(t, nodes)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { client.Close() })
	return nodes, client
}

// oneEpoch waits until all nodes know the latest epoch. One that has not heard of it would take
// a slot without a later one, and give it back when it hears from the node that had it.
func oneEpoch(t testing.TB, nodes []*Server) {
	t.Helper()
	Eventually(t, "all know the latest epoch", func() error {
		var said []string
		for _, n := range nodes {
			for _, line := range Lines(n.Client.ClusterInfo(context.Background()).Val()) {
				if strings.HasPrefix(line, "cluster_current_epoch:") {
					said = append(said, line)
				}
			}
		}
		if len(said) != len(nodes) || slices.ContainsFunc(said, func(line string) bool { return line != said[0] }) {
			return fmt.Errorf("%q", said)
		}
		return nil
	})
}

// Hold begins to move the slot of a key to another node and stops halfway: the slot is held
// in MIGRATING and IMPORTING. The key itself is moved if moved is set. end ends the move.
func Hold(t testing.TB, nodes []*Server, key string, moved bool) (end func()) {
	t.Helper()
	slot := nodes[0].Client.ClusterKeySlot(context.Background(), key).Val()
	var from *Server
	for _, n := range nodes {
		if err := n.Client.Get(context.Background(), "{"+key+"}:which").Err(); err == nil || errors.Is(err, redis.Nil) {
			from = n
		}
	}
	require.NotNil(t, from)
	to := nodes[0]
	if to == from {
		to = nodes[1]
	}
	fromID, toID := from.Client.ClusterMyID(context.Background()).Val(), to.Client.ClusterMyID(context.Background()).Val()
	require.NoError(t, to.Client.Do(context.Background(), "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID).Err())
	require.NoError(t, from.Client.Do(context.Background(), "CLUSTER", "SETSLOT", slot, "MIGRATING", toID).Err())
	migrate := func() {
		keys, err := from.Client.ClusterGetKeysInSlot(context.Background(), int(slot), 100).Result()
		require.NoError(t, err)
		for _, k := range keys {
			require.NoError(t, from.Client.Migrate(context.Background(), "127.0.0.1", fmt.Sprint(to.Port), k, 0, 5*time.Second).Err())
		}
	}
	if moved {
		migrate()
	}
	return func() {
		migrate()
		oneEpoch(t, nodes)
		// All are told, as redis-cli does: a node that has yet to hear of it from the others
		// would send clients to the old place.
		for _, n := range append([]*Server{to, from}, nodes...) {
			require.NoError(t, n.Client.Do(context.Background(), "CLUSTER", "SETSLOT", slot, "NODE", toID).Err())
		}
	}
}
