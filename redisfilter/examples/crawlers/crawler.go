package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
)

// A crawler is the part that runs on each machine, with its own handle.
type crawler struct {
	seen *redisfilter.Filter

	mu     sync.Mutex
	won    []string // the links that this crawler was the first to add
	next   []string // won links to fetch
	unsure []string // pages that another crawler may also fetch
}

// newCrawler makes or joins the filter of the URLs that were seen. All crawlers must pass the same parameters. A false
// positive is a page that is never fetched, hence the small p. With replicas, an add returns when they have confirmed
// it, so that a failover does not lose it. By default, a filter of this size has one shard; the six shards are spread
// over all nodes.
func newCrawler(ctx context.Context, client redis.UniversalClient, filter string, replicas int) (*crawler, error) {
	seen, err := redisfilter.Open(ctx, client, filter, 100_000, 1e-6,
		redisfilter.WithShards(6), redisfilter.WithWait(replicas, time.Second))
	return &crawler{seen: seen}, err
}

// fetch fetches a page and keeps the links that no crawler has added before.
func (c *crawler) fetch(ctx context.Context, page string) error {
	links, err := linksOf(ctx, page)
	if err != nil {
		return err
	}
	keys, added := make([][]byte, len(links)), make([]bool, len(links))
	for i, link := range links {
		keys[i] = []byte(link)
	}
	_, err = c.seen.AddMany(ctx, keys, added)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, yes := range added {
		if yes {
			c.won = append(c.won, links[i])
			c.next = append(c.next, links[i])
		}
	}
	if errors.Is(err, redisfilter.ErrLost) {
		// A shard lost links that this crawler has added. It is not known which.
		c.unsure = append(c.unsure, c.won...)
	}
	failed := &redisfilter.AddError{}
	if errors.As(err, &failed) {
		for _, i := range failed.Unsure {
			c.unsure = append(c.unsure, links[i]) // another crawler may have won it, too
		}
	}
	if len(failed.NotAdded) > 0 {
		return err
	}
	return nil
}

// finish detects losses after the last add. The loss of a shard is noticed only by the next call that reads or writes
// this shard. Stats reads all of them.
func (c *crawler) finish(ctx context.Context) error {
	_, err := c.seen.Stats(ctx)
	if errors.Is(err, redisfilter.ErrLost) {
		c.unsure = append(c.unsure, c.won...)
		return nil
	}
	return err
}

// linksOf fetches a page and returns the links on it: here, its lines.
func linksOf(ctx context.Context, url string) (links []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	body, err := io.ReadAll(resp.Body)
	return strings.Fields(string(body)), err
}
