package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
)

// A disturbance is what happens to the cluster while the processes crawl.
type disturbance struct {
	cluster  *rediscluster.Cluster
	frontier *Frontier
	pages    int
	keys     []string // of the filter
	stdout   io.Writer
}

// The parts of the site that are crawled when something happens; the last of them is not
// crawled before all of it has happened.
const moveAt, killAt, holdAt = 0.2, 0.5, 0.8

func (d disturbance) run(ctx context.Context) error {
	defer d.frontier.setLimit(math.MaxInt)
	at := func(part float64) error { return d.frontier.await(ctx, int(part*float64(d.pages))) }
	if err := at(moveAt); err != nil {
		return err
	}
	for i := range 3 * len(d.keys) { // each once around
		err := rediscluster.Await(ctx, "a slot is moved", func() error {
			masters, err := d.cluster.Masters(ctx)
			if err != nil || len(masters) == 0 {
				return errors.Join(err, errors.New("no masters"))
			}
			return d.cluster.Move(ctx, d.keys[i/3], masters[(i+i/3)%len(masters)])
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(d.stdout, "%d slots of the filter were moved from node to node, twice or three times each\n", len(d.keys))
	if err := at(killAt); err != nil {
		return err
	}
	node, err := d.cluster.Master(ctx, d.keys[0])
	if err != nil {
		return err
	}
	node.Kill()
	began := time.Now()
	err = rediscluster.Await(ctx, "a replica takes over", func() error {
		_, err := d.cluster.Master(ctx, d.keys[0])
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "the node at %s was killed; its replica took over after %v\n", node.Addr, time.Since(began).Round(100*time.Millisecond))
	if err := node.Start(ctx); err != nil {
		return err
	}
	if err := node.Follows(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "it is back, as a replica, after %v\n", time.Since(began).Round(100*time.Millisecond))
	return nil
}
