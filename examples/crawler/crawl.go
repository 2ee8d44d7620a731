package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/seed3447c163/bloom"
)

// A page is a URL that was found and waits to be fetched.
type page struct {
	target
	depth int // clicks away from a start URL
}

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	cfg     config
	client  *client
	seen    *bloom.BloomFilter
	started time.Time
	ending  string // why the crawl ended

	mu       sync.Mutex
	counts   map[string]int64 // what became of pages and links, by the names of the summary
	levels   [][]page         // that wait, by depth
	failures []string         // the first few, to show
	wins     map[string]int   // with -exact, see differences
}

func newCrawler(cfg config, seen *bloom.BloomFilter) *crawler {
	c := &crawler{cfg: cfg, client: newClient(cfg), seen: seen, started: time.Now(), counts: map[string]int64{}, levels: make([][]page, cfg.depth+1)}
	if cfg.exact {
		c.wins = map[string]int{}
	}
	return c
}

func (c *crawler) count(what string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}

const interrupted = "interrupted"

// crawl returns when all pages are fetched, the limit is reached or the context
// ends.
//
// It works level by level: no page is fetched before all that are a click nearer to the
// start are done. Otherwise a URL could be found at the end of a long but fast chain of
// pages first and in a near but slow page later, and the depth limit would cut off what is
// near enough. An exact set could keep the depth and correct it; a filter has only "seen".
func (c *crawler) crawl(ctx context.Context) {
	c.client.loadRobots(ctx)
	for _, t := range c.cfg.starts {
		c.follow(&url.URL{}, link{href: t.String()}, 0)
	}
	c.ending = "done, no page is left to fetch"
	requests := 0
	for depth := range c.levels {
		pages := make(chan page)
		var workers sync.WaitGroup
		for range c.cfg.workers {
			workers.Go(func() {
				for p := range pages {
					c.visit(ctx, p)
				}
			})
		}
		for _, p := range c.levels[depth] {
			if c.cfg.max > 0 && requests == c.cfg.max {
				c.ending = fmt.Sprintf("stopped after %s requests (-max)", count(c.cfg.max))
				break
			}
			requests++
			pages <- p // without a wait if the context has ended
		}
		close(pages)
		workers.Wait()
	}
	if ctx.Err() != nil {
		c.ending = interrupted
	}
}

// visit fetches a page and offers its links.
func (c *crawler) visit(ctx context.Context, p page) {
	r, err := c.client.get(ctx, p.target)
	if ctx.Err() != nil {
		return // cut off by Ctrl-C: not the page's failure
	}
	c.count("bytes", r.bytes)
	if r.redirected && p.depth == 0 { // a crawl would end there, at nothing
		if t, failed := resolve(r.base, r.links[0].href); failed == nil && c.client.hosts[t.origin] == nil {
			err = fmt.Errorf("redirects to %s on another host: start there", t)
		}
	}
	switch {
	case err != nil:
		c.fail(p.target, err)
		return
	case r.redirected:
		c.count("redirects", 1)
	default:
		c.count("pages fetched", 1)
	}
	// A redirect is a click too: a server that forwards every URL to a new one
	// would otherwise never be done with.
	for _, l := range r.links {
		c.follow(r.base, l, p.depth+1)
	}
}

func (c *crawler) fail(t target, err error) {
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err // without the URL, which is shown anyway
	}
	c.count("failed", 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) < 10 { // enough to see a pattern
		c.failures = append(c.failures, fmt.Sprintf("%s: %v", t, err))
	}
}

// follow queues what a link leads to, unless it was found before or is nothing that a
// crawler may or can follow. Every link is counted once more, as what became of it.
//
// The filter is asked last: what it has been told it can't forget, so it is told
// of nothing that won't be fetched.
func (c *crawler) follow(base *url.URL, l link, depth int) {
	c.count("links found", 1)
	t, err := resolve(base, l.href)
	host, known := c.client.hosts[t.origin]
	switch {
	case err != nil:
		c.count("unusable", 1)
	case l.nofollow:
		c.count("nofollow", 1)
	case !known:
		c.count("off-host", 1)
	case depth > c.cfg.depth:
		c.count("too deep", 1)
	case !host.allows(t.path):
		c.count("robots.txt", 1)
	case !c.add(t.String()):
		c.count("duplicate", 1)
	default:
		c.count("new", 1)
		c.count("bytes of keys", int64(len(t.String())))
		c.mu.Lock()
		c.levels[depth] = append(c.levels[depth], page{t, depth})
		c.mu.Unlock()
	}
}

// add returns true if the URL is definitely new and this call is the one that added it.
// The filter alone decides; the exact set, if there is one, only watches.
func (c *crawler) add(url string) bool {
	added := c.seen.AddString(url)
	if c.cfg.exact {
		c.record(url, added)
	}
	return added
}
