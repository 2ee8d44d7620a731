// Package rediscluster runs a Redis Cluster on loopback ports, for examples, measurements
// and tests.
package rediscluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Cluster is one whose nodes are processes of this program.
type Cluster struct {
	Nodes []*Node // the masters, and behind them a replica of each
	dir   string
}

const slots = 16384

// Start starts a cluster of so many masters, with a replica of each if replicas is set, and
// waits until it is whole. args are for each redis-server.
func Start(ctx context.Context, masters int, replicas bool, args ...string) (*Cluster, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w: install it (Debian: apt-get install redis-server)", err)
	}
	c := &Cluster{}
	if c.dir, err = os.MkdirTemp("", "rediscluster"); err != nil {
		return nil, err
	}
	if err := c.start(ctx, path, masters, replicas, args); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, path string, masters int, replicas bool, args []string) error {
	count := masters
	if replicas {
		count *= 2
	}
	for i := range count {
		n, err := startNode(ctx, path, filepath.Join(c.dir, fmt.Sprint(i)), args)
		if err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, n)
	}
	for i, n := range c.Nodes {
		// Nodes with one epoch have to agree which of them gets another.
		if err := n.Client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
		if i < masters {
			if err := n.Client.ClusterAddSlotsRange(ctx, i*slots/masters, (i+1)*slots/masters-1).Err(); err != nil {
				return err
			}
		}
		if i > 0 {
			if err := n.Client.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", c.Nodes[0].port, c.Nodes[0].bus).Err(); err != nil {
				return err
			}
		}
	}
	all := fmt.Sprintf("cluster_known_nodes:%d", count)
	if err := c.await(ctx, "all nodes know each other", all); err != nil {
		return err
	}
	for i, n := range c.Nodes[masters:] {
		// Refused until the node has heard that the other one is a master.
		err := Await(ctx, "a replica knows its master", func() error { return n.Client.ClusterReplicate(ctx, c.Nodes[i].id).Err() })
		if err != nil {
			return err
		}
	}
	if err := c.await(ctx, "the cluster is whole", all, "cluster_state:ok", fmt.Sprintf("cluster_size:%d", masters)); err != nil {
		return err
	}
	for _, n := range c.Nodes[masters:] {
		if err := n.Follows(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sameEpoch returns an error if the nodes that live do not know the same current epoch.
func (c *Cluster) sameEpoch(ctx context.Context) error {
	epoch := ""
	for _, n := range c.Nodes {
		if n.dead() {
			continue
		}
		info, err := n.Client.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(info, "cluster_current_epoch:")
		now, _, _ := strings.Cut(rest, "\r\n")
		if epoch != "" && now != epoch {
			return fmt.Errorf("%s and %s", epoch, now)
		}
		epoch = now
	}
	return nil
}

// await waits until CLUSTER INFO of all nodes has these lines.
func (c *Cluster) await(ctx context.Context, what string, lines ...string) error {
	for _, n := range c.Nodes {
		err := Await(ctx, what, func() error {
			info, err := n.Client.ClusterInfo(ctx).Result()
			return errors.Join(err, lacks(info, lines...))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lacks returns an error if INFO has not all of these lines.
func lacks(info string, lines ...string) error {
	have := strings.Split(info, "\r\n")
	for _, line := range lines {
		if !slices.Contains(have, line) {
			return fmt.Errorf("no line %q", line)
		}
	}
	return nil
}

// Await tries until there is no error, for a minute at most.
func Await(ctx context.Context, what string, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain until %s: %w", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends all nodes and removes what they have written.
func (c *Cluster) Stop() {
	for _, n := range c.Nodes {
		n.Client.Close()
		n.Kill()
	}
	os.RemoveAll(c.dir)
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.Nodes {
		addrs = append(addrs, n.Addr)
	}
	return addrs
}

// Master returns the node that has a key's slot. It is an error if the masters that live do not
// agree on one of them.
func (c *Cluster) Master(ctx context.Context, key string) (*Node, error) {
	var master *Node
	said := ""
	agree := true
	for _, n := range c.Nodes {
		if n.dead() {
			continue
		}
		slot, err := n.Client.ClusterKeySlot(ctx, key).Result()
		if err != nil {
			return nil, err
		}
		shards, err := n.Client.ClusterShards(ctx).Result()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.mastersIn(shards, -1), n) {
			continue
		}
		now := c.mastersIn(shards, slot)
		if len(now) != 1 || now[0].dead() || master != nil && now[0] != master {
			agree = false
		}
		for _, m := range now {
			master = m
			said += fmt.Sprintf(", %s says %s", n.Addr, m.Addr)
		}
	}
	if master == nil || !agree {
		return nil, fmt.Errorf("the nodes do not agree on the master of key %q%s", key, said)
	}
	return master, nil
}

// Masters returns the nodes that live and are masters, as one of them says.
func (c *Cluster) Masters(ctx context.Context) ([]*Node, error) {
	for _, n := range c.Nodes {
		if !n.dead() {
			shards, err := n.Client.ClusterShards(ctx).Result()
			return slices.DeleteFunc(c.mastersIn(shards, -1), (*Node).dead), err
		}
	}
	return nil, errors.New("no node lives")
}

// mastersIn returns the nodes that are masters and have a slot, or any if that is -1, as CLUSTER
// SHARDS says.
func (c *Cluster) mastersIn(shards []redis.ClusterShard, slot int64) (masters []*Node) {
	for _, s := range shards {
		has := slot == -1 && len(s.Slots) > 0
		for _, r := range s.Slots {
			has = has || r.Start <= slot && slot <= r.End
		}
		for _, told := range s.Nodes {
			if i := slices.IndexFunc(c.Nodes, func(n *Node) bool { return n.id == told.ID }); i >= 0 && has && told.Role == "master" {
				masters = append(masters, c.Nodes[i])
			}
		}
	}
	return masters
}

// Move moves the slot of a key, with all that is in it, to another master. After an error, it may
// be called again.
func (c *Cluster) Move(ctx context.Context, key string, to *Node) error {
	// A node that has not heard of the latest epoch would take the slot without a later one, and
	// give it back when it hears of that.
	if err := Await(ctx, "all know the latest epoch", func() error { return c.sameEpoch(ctx) }); err != nil {
		return err
	}
	from, err := c.Master(ctx, key)
	if err != nil || from == to {
		return err
	}
	slot, err := from.Client.ClusterKeySlot(ctx, key).Result()
	if err != nil {
		return err
	}
	if err := to.Client.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.id).Err(); err != nil {
		return err
	}
	if err := from.Client.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.id).Err(); err != nil {
		return err
	}
	for {
		keys, err := from.Client.ClusterGetKeysInSlot(ctx, int(slot), 100).Result()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		for _, k := range keys {
			if err := from.Client.Migrate(ctx, "127.0.0.1", fmt.Sprint(to.port), k, 0, time.Minute).Err(); err != nil {
				return err
			}
		}
	}
	for _, n := range []*Node{to, from} { // in this order: the slot must have a node at any time
		if err := n.Client.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.id).Err(); err != nil {
			return err
		}
	}
	// The others hear of it from these.
	return Await(ctx, "all know the slot's new master", func() error {
		now, err := c.Master(ctx, key)
		if err == nil && now != to {
			err = fmt.Errorf("it is still at %s", now.Addr)
		}
		return err
	})
}
