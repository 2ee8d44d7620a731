package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
)

// moves moves shards of several sizes to another node, and says for how long the two nodes did
// not answer anybody.
func moves(ctx context.Context, s scale, c *rediscluster.Cluster, client redis.UniversalClient, w io.Writer) error {
	fmt.Fprintf(w, "a shard is moved to another node\tMiB\tms\tlongest PING of the old node, ms\tof the new one, ms\t\n")
	for _, n := range []uint64{s.n / 60, s.n / 6, s.n} { // at 1e-4, the second is about what a shard is for by default
		f, err := redisfilter.Open(ctx, client, "moves", n, 1e-4, redisfilter.WithShards(1))
		if err != nil {
			return err
		}
		if err := confirmed(ctx, c.Nodes); err != nil {
			return err
		}
		info, err := f.Info(ctx)
		if err != nil {
			return err
		}
		from, err := c.Master(ctx, "moves")
		if err != nil {
			return err
		}
		to := c.Nodes[0]
		if to == from {
			to = c.Nodes[1]
		}
		old, other := pings(ctx, from), pings(ctx, to)
		began := time.Now()
		err = c.Move(ctx, "moves", to)
		took := time.Since(began)
		silentOld, silentOther := old(), other()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\t%.1f\t%.0f\t%.0f\t%.0f\t\n", float64(info.SizeBytes)/(1<<20), ms(took), ms(silentOld), ms(silentOther))
		if err := f.Delete(ctx); err != nil {
			return err
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// pings asks a node again and again until longest is called, which returns the longest time that
// an answer has taken.
func pings(ctx context.Context, n *rediscluster.Node) (longest func() time.Duration) {
	stop, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		for {
			began := time.Now()
			n.Client.Ping(ctx)
			most = max(most, time.Since(began))
			select {
			case <-stop:
				result <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-result
	}
}

// failover kills a node while a handle adds batches of 1000 keys, which a replica confirms, and
// starts it again when its replica has taken over.
func failover(ctx context.Context, s scale, c *rediscluster.Cluster, client redis.UniversalClient, w io.Writer) error {
	f, err := redisfilter.Open(ctx, client, "failover", s.n, 1e-4, redisfilter.WithShards(6), redisfilter.WithFront(0), redisfilter.WithWait(1, 500*time.Millisecond))
	if err != nil {
		return err
	}
	if err := confirmed(ctx, c.Nodes); err != nil {
		return err
	}
	var confirmedKeys [][]byte
	add := func() (*redisfilter.AddError, error) {
		keys := keysFrom(nextKey.Add(1000), 1000)
		_, err := f.AddMany(ctx, keys, nil)
		failed, ok := errors.AsType[*redisfilter.AddError](err)
		switch {
		case err == nil:
			confirmedKeys = append(confirmedKeys, keys...)
			return &redisfilter.AddError{}, nil
		case !ok || errors.Is(err, redisfilter.ErrLost):
			return nil, err
		}
		return failed, nil
	}
	for range 100 {
		if _, err := add(); err != nil {
			return err
		}
	}
	node, err := c.Master(ctx, "failover")
	if err != nil {
		return err
	}
	killed := time.Now()
	node.Kill()
	back := make(chan error, 1)
	go func() {
		back <- func() error {
			err := rediscluster.Await(ctx, "a replica takes over", func() error { _, err := c.Master(ctx, "failover"); return err })
			if err != nil {
				return err
			}
			if err := node.Start(ctx); err != nil {
				return err
			}
			return node.Follows(ctx)
		}()
	}()
	var unknown, unconfirmed int
	var taken, whole time.Duration
	for whole == 0 {
		failed, err := add()
		if err != nil {
			return err
		}
		unknown += len(failed.Unknown)
		unconfirmed += len(failed.Unconfirmed)
		if len(failed.NotAdded)+len(failed.Unknown) > 0 {
			taken = 0
		} else if taken == 0 {
			taken = time.Since(killed)
		}
		if taken > 0 && len(failed.Unconfirmed) == 0 {
			whole = time.Since(killed)
		}
	}
	if err := <-back; err != nil {
		return err
	}
	found, err := f.ContainsMany(ctx, confirmedKeys, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "a node is killed; nodes are taken for dead after\ts until adds are taken again\ts until a replica confirms them again\tkeys without an answer\tkeys without a confirmation\tconfirmed keys\tforgotten\t\n")
	fmt.Fprintf(w, "%v\t%.1f\t%.1f\t%d\t%d\t%d\t%d\t\n", s.timeout, taken.Seconds(), whole.Seconds(), unknown, unconfirmed, len(confirmedKeys), len(confirmedKeys)-found)
	return nil
}
