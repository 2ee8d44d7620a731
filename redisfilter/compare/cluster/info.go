package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
)

// number returns a number that INFO has.
func number(ctx context.Context, n *rediscluster.Node, section, name string) (float64, error) {
	text, err := n.Client.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("INFO %s has no %s", section, name)
}

// sum adds up numbers of INFO over nodes.
func sum(ctx context.Context, nodes []*rediscluster.Node, section string, names ...string) (float64, error) {
	total := 0.0
	for _, n := range nodes {
		for _, name := range names {
			v, err := number(ctx, n, section, name)
			if err != nil {
				return 0, err
			}
			total += v
		}
	}
	return total, nil
}

type bytesUsed struct{ masters, all float64 }

// used returns the memory of the first half of the nodes and of all.
func used(ctx context.Context, nodes []*rediscluster.Node) (bytesUsed, error) {
	all, err := sum(ctx, nodes, "memory", "used_memory_dataset")
	if err != nil {
		return bytesUsed{}, err
	}
	masters, err := sum(ctx, nodes[:len(nodes)/2], "memory", "used_memory_dataset")
	return bytesUsed{masters, all}, err
}

// confirmed waits until the replicas, which are the other half of the nodes, have what their
// masters have.
func confirmed(ctx context.Context, nodes []*rediscluster.Node) error {
	half := len(nodes) / 2
	for i, master := range nodes[:half] {
		err := rediscluster.Await(ctx, "the replica has all", func() error {
			want, err := number(ctx, master, "replication", "master_repl_offset")
			if err != nil {
				return err
			}
			have, err := number(ctx, nodes[half+i], "replication", "slave_repl_offset")
			if err == nil && have < want {
				err = fmt.Errorf("%g of %g", have, want)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// median returns the one in the middle.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
