package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
)

// clients is how many goroutines add and ask at the same time.
const clients = 8

// A load is one way to use the filter.
type load struct {
	name      string
	wait, ask bool
	seen      bool // keys that are in
}

var loads = []load{
	{name: "add, new"},
	{name: "add, new, WithWait", wait: true},
	{name: "add, seen, WithWait", wait: true, seen: true},
	{name: "ask, absent", ask: true},
}

// costs measures what a key costs, without the front.
func costs(ctx context.Context, s scale, c *rediscluster.Cluster, client redis.UniversalClient, w io.Writer) error {
	fmt.Fprintf(w, "n = %d, p = 1e-4, %d goroutines\tshards\tbatch\tround trips a key\tbytes a key: to the masters\tfrom them\tto the replicas\tµs a key: masters\treplicas\t\n", s.n, clients)
	for _, shards := range s.shards {
		var filters [2]*redisfilter.Filter
		for i := range filters {
			opts := []redisfilter.Option{redisfilter.WithShards(shards), redisfilter.WithFront(0)}
			if i == 1 {
				opts = append(opts, redisfilter.WithWait(1, 2*time.Second))
			}
			var err error
			if filters[i], err = redisfilter.Open(ctx, client, "costs", s.n, 1e-4, opts...); err != nil {
				return err
			}
		}
		for _, load := range loads {
			f := filters[0]
			if load.wait {
				f = filters[1]
			}
			for _, batch := range s.batches {
				var turns []figures
				for range s.rounds {
					t, err := turn(ctx, s, c, f, load, batch)
					if err != nil {
						return err
					}
					turns = append(turns, t)
				}
				print(w, load.name, shards, batch, turns)
			}
		}
		if err := filters[0].Delete(ctx); err != nil {
			return err
		}
	}
	return nil
}

// figures are those of a turn, for each key.
type figures [6]float64

func print(w io.Writer, name string, shards, batch int, turns []figures) {
	var m figures
	for i := range m {
		var all []float64
		for _, t := range turns {
			all = append(all, t[i])
		}
		m[i] = median(all)
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%.5f\t%.0f\t%.0f\t%.0f\t%.2f\t%.2f\t\n", name, shards, batch, m[0], m[1], m[2], m[3], m[4], m[5])
}

// nextKey is the number of the first key that was not used before.
var nextKey atomic.Int64

func turn(ctx context.Context, s scale, c *rediscluster.Cluster, f *redisfilter.Filter, l load, batch int) (figures, error) {
	first := nextKey.Add(int64(s.keys))
	if l.seen {
		if _, err := f.AddMany(ctx, keysFrom(first, s.keys), nil); err != nil {
			return figures{}, err
		}
	}
	before, err := state(ctx, c)
	if err != nil {
		return figures{}, err
	}
	trips := f.Counts().RoundTrips
	var next atomic.Int64
	errs := make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for errs[i] == nil {
				end := next.Add(int64(batch))
				if end > int64(s.keys) {
					return
				}
				keys := keysFrom(first+end-int64(batch), batch)
				if l.ask {
					_, errs[i] = f.ContainsMany(ctx, keys, nil)
				} else {
					_, errs[i] = f.AddMany(ctx, keys, nil)
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return figures{}, err
	}
	trips = f.Counts().RoundTrips - trips
	if err := confirmed(ctx, c.Nodes); err != nil {
		return figures{}, err
	}
	after, err := state(ctx, c)
	if err != nil {
		return figures{}, err
	}
	n := float64(s.keys / batch * batch)
	t := figures{float64(trips) / n}
	for i := range after {
		t[i+1] = (after[i] - before[i]) / n
	}
	return t, nil
}

// keysFrom returns keys of which the first has a number.
func keysFrom(first int64, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://example.com/articles/%d", first+int64(i))
	}
	return keys
}

// state is what the nodes have counted: bytes to and from the masters, bytes to the replicas, and
// microseconds of the masters and the replicas.
func state(ctx context.Context, c *rediscluster.Cluster) (s [5]float64, err error) {
	masters, replicas := c.Nodes[:3], c.Nodes[3:]
	for i, q := range []struct {
		nodes   []*rediscluster.Node
		section string
		names   []string
		times   float64
	}{
		{masters, "stats", []string{"total_net_input_bytes"}, 1},
		{masters, "stats", []string{"total_net_output_bytes"}, 1},
		{masters, "stats", []string{"total_net_repl_output_bytes"}, 1},
		{masters, "cpu", []string{"used_cpu_sys", "used_cpu_user"}, 1e6},
		{replicas, "cpu", []string{"used_cpu_sys", "used_cpu_user"}, 1e6},
	} {
		v, err := sum(ctx, q.nodes, q.section, q.names...)
		if err != nil {
			return s, err
		}
		s[i] = v * q.times
	}
	s[1] -= s[2] // what goes to the clients
	return s, nil
}
