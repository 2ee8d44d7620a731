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

// A Cluster is a Redis Cluster for one test.
type Cluster struct {
	Nodes []*Server // the masters, then a replica of each
	t     testing.TB
}

const slotCount = 16384

var bg = context.Background()

// StartCluster starts a cluster of masters, with a replica of each if replicas is true, and waits until it is complete.
func StartCluster(t testing.TB, masters int, replicas bool) *Cluster {
	t.Helper()
	c, count := &Cluster{t: t}, masters
	if replicas {
		count *= 2
	}
	for range count {
		// The timeout is long: a node on a busy machine must answer within it, or a failover begins.
		c.Nodes = append(c.Nodes, Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "4000",
			"--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"))
	}
	for i, n := range c.Nodes {
		// Each node gets another epoch: nodes with equal epochs would first have to resolve the conflict.
		require.NoError(t, n.Client.Do(bg, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		if i < masters {
			require.NoError(t, n.Client.ClusterAddSlotsRange(bg, i*slotCount/masters, (i+1)*slotCount/masters-1).Err())
		}
		if i > 0 {
			require.NoError(t, n.Client.ClusterMeet(bg, "127.0.0.1", fmt.Sprint(c.Nodes[0].Port)).Err())
		}
	}
	all := fmt.Sprintf("cluster_known_nodes:%d", count)
	c.await("all nodes know each other", all)
	for i, n := range c.Nodes[masters:] {
		// This fails until the node knows that the other one is a master.
		Eventually(t, "a replica knows its master", func() error { return n.Client.ClusterReplicate(bg, c.Nodes[i].id()).Err() })
	}
	c.await("the cluster is whole", all, "cluster_state:ok", fmt.Sprintf("cluster_size:%d", masters))
	for _, n := range c.Nodes[masters:] {
		n.Follows(t)
	}
	return c
}

// await waits until CLUSTER INFO of all nodes has the given lines.
func (c *Cluster) await(what string, lines ...string) {
	for _, n := range c.Nodes {
		Eventually(c.t, what, func() error {
			info, err := n.Client.ClusterInfo(bg).Result()
			return errors.Join(err, lacks(info, lines...))
		})
	}
}

// lacks returns an error if info lacks one of the lines.
func lacks(info string, lines ...string) error {
	have := strings.Split(info, "\r\n")
	for _, line := range lines {
		if !slices.Contains(have, line) {
			return fmt.Errorf("no line %q", line)
		}
	}
	return nil
}

// Follows waits until the server is a replica that has synchronised with its primary.
func (s *Server) Follows(t testing.TB) {
	t.Helper()
	Eventually(t, "the replica follows", func() error {
		info, err := s.Client.Info(bg, "replication").Result()
		return errors.Join(err, lacks(info, "role:slave", "master_link_status:up"))
	})
}

func (s *Server) id() string { return s.Client.ClusterMyID(bg).Val() }

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() (addrs []string) {
	for _, n := range c.Nodes {
		addrs = append(addrs, n.Addr)
	}
	return addrs
}

// Client returns a client of the cluster.
func (c *Cluster) Client() *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	c.t.Cleanup(func() { client.Close() })
	return client
}

// living returns the nodes that run.
func (c *Cluster) living() (nodes []*Server) {
	for _, n := range c.Nodes {
		select {
		case <-n.exited:
		default:
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// masters returns the running masters of a slot, or of all slots if slot is -1, according to the node in says. It uses
// CLUSTER SLOTS, because CLUSTER SHARDS lists masters that a replica has replaced, and Redis 6.2 does not have it.
func (c *Cluster) masters(says *Server, slot int64) (masters []*Server, err error) {
	//lint:ignore SA1019 Redis 6.2 has no CLUSTER SHARDS
	slots, err := says.Client.ClusterSlots(bg).Result()
	for _, s := range slots {
		for _, n := range c.living() {
			if len(s.Nodes) > 0 && n.Addr == s.Nodes[0].Addr && !slices.Contains(masters, n) &&
				(slot < 0 || int64(s.Start) <= slot && slot <= int64(s.End)) {
				masters = append(masters, n)
			}
		}
	}
	return masters, err
}

// Masters returns the running masters according to the first running node.
func (c *Cluster) Masters() []*Server {
	masters, err := c.masters(c.living()[0], -1)
	require.NoError(c.t, err)
	return masters
}

// Master returns the master of a key's slot. It returns an error if the masters do not agree on a running one.
func (c *Cluster) Master(key string) (master *Server, err error) {
	for _, n := range c.living() {
		slot, err := n.Client.ClusterKeySlot(bg, key).Result()
		if err != nil {
			return nil, err
		}
		if all, err := c.masters(n, -1); err != nil || !slices.Contains(all, n) {
			continue
		}
		now, err := c.masters(n, slot)
		if err != nil || len(now) != 1 || master != nil && now[0] != master {
			return nil, fmt.Errorf("the nodes do not agree on the master of key %q: %v", key, err)
		}
		master = now[0]
	}
	if master == nil {
		return nil, errors.New("no master lives")
	}
	return master, nil
}

// Move moves the slot of a key, with all keys in it, to another master.
func (c *Cluster) Move(key string, to *Server) {
	c.t.Helper()
	Eventually(c.t, "a slot moves", func() error { return c.move(key, to) })
	Eventually(c.t, "all know the slot's new master", func() error {
		now, err := c.Master(key)
		if err == nil && now != to {
			err = fmt.Errorf("it is still at %s", now.Addr)
		}
		return err
	})
}

func (c *Cluster) move(key string, to *Server) error {
	// A node that does not know the latest epoch would take the slot with an older epoch, and lose the slot when it
	// learns the latest epoch.
	epochs := map[string]bool{}
	for _, n := range c.living() {
		_, rest, _ := strings.Cut(n.Client.ClusterInfo(bg).Val(), "cluster_current_epoch:")
		epoch, _, _ := strings.Cut(rest, "\r\n")
		epochs[epoch] = true
	}
	if len(epochs) > 1 {
		return fmt.Errorf("the nodes do not know the same epoch: %v", epochs)
	}
	from, err := c.Master(key)
	if err != nil || from == to {
		return err
	}
	slot := from.Client.ClusterKeySlot(bg, key).Val()
	set := func(n *Server, args ...any) error {
		return n.Client.Do(bg, append([]any{"CLUSTER", "SETSLOT", slot}, args...)...).Err()
	}
	if err := errors.Join(set(to, "IMPORTING", from.id()), set(from, "MIGRATING", to.id())); err != nil {
		return err
	}
	keys, err := from.Client.ClusterGetKeysInSlot(bg, int(slot), 1000).Result()
	for _, k := range keys {
		err = errors.Join(err, from.Client.Migrate(bg, "127.0.0.1", fmt.Sprint(to.Port), k, 0, time.Minute).Err())
	}
	if err != nil {
		return err
	}
	// In this order, the slot always has a node. The other nodes learn of the move from these two.
	return errors.Join(set(to, "NODE", to.id()), set(from, "NODE", to.id()))
}
