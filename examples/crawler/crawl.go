package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
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
	seen    seenSet
	state   *state // nil if nothing is kept
	stats   stats
	started time.Time
	ending  string // why the crawl ended

	mu       sync.Mutex
	levels   [][]page // that wait, by depth
	failures []string // the first few, to show
}

// stats counts what a crawl met. Every link is counted once more, as what became
// of it, so that the parts add up to the whole.
type stats struct {
	requests, fetched, notHTML, bytes, redirected, failed atomic.Int64

	links, resumed, added, addedBytes             atomic.Int64
	duplicate, offHost, tooDeep, robots, nofollow atomic.Int64
	unusable                                      atomic.Int64
}

func newCrawler(cfg config) *crawler {
	c := &crawler{cfg: cfg, client: newClient(cfg), started: time.Now(), levels: make([][]page, cfg.depth+1)}
	if cfg.exact {
		c.seen.audit = &audit{wins: map[string]int{}}
	}
	return c
}

// crawl returns when all pages are fetched, the limit is reached or the context
// ends.
//
// It works level by level: no page is fetched before all that are a click nearer to the
// start are done. Otherwise a URL could be found at the end of a long but fast chain of
// pages first and in a near but slow page later, and the depth limit would cut off what is
// near enough. An exact set could keep the depth and correct it; a filter has only "seen".
func (c *crawler) crawl(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.client.loadRobots(ctx)
	if c.state != nil {
		c.state.onError = stop // what can't be kept must not be fetched
		for _, p := range c.state.pending {
			if c.client.hosts[p.origin].allows(p.path) { // else it stays in the log
				c.stats.resumed.Add(1)
				c.push(p)
			}
		}
	}
	for _, t := range c.cfg.starts {
		c.follow(&url.URL{}, link{href: t.String()}, 0)
	}
	c.ending = "done, no page is left to fetch"
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
			if c.cfg.max > 0 && c.stats.requests.Load() == int64(c.cfg.max) {
				c.ending = fmt.Sprintf("stopped after %s requests (-max)", count(c.cfg.max))
				break
			}
			c.stats.requests.Add(1)
			pages <- p // without a wait if the context has ended
		}
		close(pages)
		workers.Wait()
	}
	if ctx.Err() != nil {
		c.ending = interrupted
	}
}

const interrupted = "interrupted"

func (c *crawler) push(p page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.levels[p.depth] = append(c.levels[p.depth], p)
}

// visit fetches a page and offers its links.
func (c *crawler) visit(ctx context.Context, p page) {
	r, err := c.client.get(ctx, p.target)
	if ctx.Err() != nil {
		return // cut off by Ctrl-C: not the page's failure
	}
	if c.state != nil {
		defer c.state.done(p)
	}
	c.stats.bytes.Add(r.bytes)
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
		c.stats.redirected.Add(1)
	case r.notHTML:
		c.stats.notHTML.Add(1)
		fallthrough
	default:
		c.stats.fetched.Add(1)
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
	c.stats.failed.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) < 10 { // enough to see a pattern
		c.failures = append(c.failures, fmt.Sprintf("%s: %v", t, err))
	}
}

// follow queues what a link leads to, unless it was found before or is nothing that a
// crawler may or can follow.
//
// The filter is asked last: what it has been told it can't forget, so it is told
// of nothing that won't be fetched.
func (c *crawler) follow(base *url.URL, l link, depth int) {
	s := &c.stats
	s.links.Add(1)
	t, err := resolve(base, l.href)
	host, known := c.client.hosts[t.origin]
	switch {
	case err != nil:
		s.unusable.Add(1)
	case l.nofollow:
		s.nofollow.Add(1)
	case !known:
		s.offHost.Add(1)
	case depth > c.cfg.depth:
		s.tooDeep.Add(1)
	case !host.allows(t.path):
		s.robots.Add(1)
	case c.state != nil && !c.state.add(page{t, depth}), c.state == nil && !c.seen.add(t.String()):
		s.duplicate.Add(1)
	default:
		s.added.Add(1)
		s.addedBytes.Add(int64(len(t.String())))
		c.push(page{t, depth})
	}
}
