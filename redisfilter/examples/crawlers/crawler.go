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

// A crawler is what each machine runs, with a handle of its own.
type crawler struct {
	seen *redisfilter.Filter

	mu     sync.Mutex
	won    []string // the links that this crawler was the first to add
	next   []string // those of them that are to be fetched
	unsure []string // pages that another crawler may be told to fetch, too
}

// newCrawler makes or joins the filter of the URLs that were seen. All crawlers name the same parameters, or get an
// error. A false positive is a page that is never fetched, hence the small p. With one replica, an add is answered when
// the replica has it, so that a failover does not forget it. A filter of this size would be one key; six shards are on
// all nodes.
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
	_, err = c.seen.AddAll(ctx, keys, added)
	failed := &redisfilter.AddError{}
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range failed.Unknown {
		// The reply was lost, and no crawler knows whether this link was new. Skipping it might lose it;
		// fetching it might fetch it twice.
		added[i] = true
		c.unsure = append(c.unsure, links[i])
	}
	for _, i := range failed.Unconfirmed {
		// The replica does not have it. If the node fails now, it is forgotten.
		if added[i] {
			c.unsure = append(c.unsure, links[i])
		}
	}
	for i, yes := range added {
		if yes {
			c.won = append(c.won, links[i])
			c.next = append(c.next, links[i])
		}
	}
	if errors.Is(err, redisfilter.ErrLost) {
		// A shard is older than what it had confirmed to this crawler. Any of these links may be
		// forgotten.
		c.unsure = append(c.unsure, c.won...)
	}
	if len(failed.NotAdded)+len(failed.Refused) > 0 {
		return err
	}
	return nil
}

// finish notices a loss after the last add. A loss shows in the next call for the shard; Stats makes one for each.
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
