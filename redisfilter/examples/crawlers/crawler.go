package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter"
)

// A crawler is what each machine runs, with a handle of its own.
type crawler struct {
	seen     *redisfilter.Filter
	frontier *frontier

	mu           sync.Mutex
	pages, links int
	won          []string // the links that this crawler was the first to add
}

// newCrawler makes or joins the filter of the URLs that were seen. All crawlers name the same
// parameters, or get an error. A false positive is a page that is never fetched, hence the small p.
// With -replicas 1, an add is answered when a replica has it, so that a failover does not forget it. A filter of this
// size would be one key; six shards are on all nodes.
func newCrawler(ctx context.Context, client redis.UniversalClient, cfg config, frontier *frontier) (*crawler, error) {
	seen, err := redisfilter.Open(ctx, client, cfg.filter, 100_000, 1e-6,
		redisfilter.WithShards(6), redisfilter.WithWait(cfg.replicas, time.Second))
	return &crawler{seen: seen, frontier: frontier}, err
}

// run fetches pages in eight goroutines until all are done.
func (c *crawler) run(ctx context.Context) error {
	const goroutines = 8
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() {
			for page := c.frontier.next(); page != "" && errs[i] == nil; page = c.frontier.next() {
				fresh, err := c.fetch(ctx, page)
				c.frontier.report(fresh)
				errs[i] = err
			}
		})
	}
	all.Wait()
	// A loss shows in the next call for the shard. Stats makes one for each.
	_, err := c.seen.Stats(ctx)
	if errors.Is(err, redisfilter.ErrLost) {
		c.frontier.doubt(c.won)
		err = nil
	}
	return errors.Join(append(errs, err)...)
}

// fetch fetches a page and returns the links that no crawler has added before.
func (c *crawler) fetch(ctx context.Context, page string) (fresh []string, err error) {
	links, err := linksOf(ctx, page)
	if err != nil {
		return nil, err
	}
	keys, added := make([][]byte, len(links)), make([]bool, len(links))
	for i, link := range links {
		keys[i] = []byte(link)
	}
	_, err = c.seen.AddAll(ctx, keys, added)
	failed := &redisfilter.AddError{}
	if err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	var unsure []string // another crawler may be told to fetch these, too
	for _, i := range failed.Unknown {
		// The reply was lost, and no crawler knows whether this link was new. Skipping it might lose it;
		// fetching it might fetch it twice.
		added[i] = true
		unsure = append(unsure, links[i])
	}
	for _, i := range failed.Unconfirmed {
		// The replica does not have it. If the node fails now, it is forgotten.
		if added[i] {
			unsure = append(unsure, links[i])
		}
	}
	for i, yes := range added {
		if yes {
			fresh = append(fresh, links[i])
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages++
	c.links += len(links)
	c.won = append(c.won, fresh...)
	if errors.Is(err, redisfilter.ErrLost) {
		// A shard is older than what it had confirmed to this crawler. Any of these links may be
		// forgotten.
		unsure = append(unsure, c.won...)
	}
	c.frontier.doubt(unsure)
	if len(failed.NotAdded) == 0 {
		err = nil
	}
	return fresh, err
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
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		links = append(links, lines.Text())
	}
	return links, lines.Err()
}
