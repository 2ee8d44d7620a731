// Cluster measures a filter on a Redis Cluster of three masters with a replica each, which it
// starts: what a key takes of memory, network and the servers' time, by shards and batches;
// how long it takes to move a shard; and what happens when a node is killed. The page
// docs/many-machines.md computes from these figures.
//
// Usage:
//
//	cluster
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
)

// scale is how much is measured.
type scale struct {
	n       uint64        // keys of the filter
	shards  []int         // over which it is spread
	batches []int         // keys in a call
	rounds  int           // turns of each case
	keys    int           // of a turn
	timeout time.Duration // after which a node is taken for dead
}

func main() {
	flag.Parse()
	logging.Disable()
	s := scale{n: 60_000_000, shards: []int{6, 96, 1024}, batches: []int{100, 4000}, rounds: 3, keys: 32_000, timeout: 15 * time.Second}
	if err := run(context.Background(), s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s scale, w io.Writer) error {
	c, err := rediscluster.Start(ctx, 3, true, "--cluster-node-timeout", fmt.Sprint(s.timeout.Milliseconds()))
	if err != nil {
		return err
	}
	defer c.Stop()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	defer client.Close()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, section := range []func(context.Context, scale, *rediscluster.Cluster, redis.UniversalClient, io.Writer) error{memory, costs, moves, failover} {
		if err := section(ctx, s, c, client, table); err != nil {
			return err
		}
		fmt.Fprintln(table)
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// memory makes filters for some rates and says what they take.
func memory(ctx context.Context, s scale, c *rediscluster.Cluster, client redis.UniversalClient, w io.Writer) error {
	fmt.Fprintf(w, "memory, n = %d\tp\tstrategy\tshards\tbytes a key\tused_memory of the masters, bytes a key\tof all nodes\t\n", s.n)
	for _, p := range []float64{1e-2, 1e-3, 1e-4, 1e-6} {
		before, err := used(ctx, c.Nodes)
		if err != nil {
			return err
		}
		f, err := redisfilter.Open(ctx, client, "memory", s.n, p)
		if err != nil {
			return err
		}
		info, err := f.Info(ctx)
		if err != nil {
			return err
		}
		if err := confirmed(ctx, c.Nodes); err != nil {
			return err
		}
		after, err := used(ctx, c.Nodes)
		if err != nil {
			return err
		}
		n := float64(s.n)
		fmt.Fprintf(w, "\t%g\t%s\t%d\t%.3f\t%.3f\t%.3f\t\n", p, info.Strategy, info.Shards, float64(info.SizeBytes)/n, (after.masters-before.masters)/n, (after.all-before.all)/n)
		if err := f.Delete(ctx); err != nil {
			return err
		}
		if err := confirmed(ctx, c.Nodes); err != nil {
			return err
		}
	}
	return nil
}
