package main

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	cfg         config
	client      *client
	seen        seenSet
	state       *state // nil if nothing is kept
	frontier    *frontier
	stats       stats
	started     time.Time
	elapsed     time.Duration
	interrupted bool
}

// stats counts what a crawl met. Every link is counted once more, as what became
// of it, so that the parts add up to the whole.
type stats struct {
	fetched, notHTML, truncated, bytes atomic.Int64
	redirected, failed                 atomic.Int64

	resumed                     atomic.Int64
	links                       atomic.Int64
	added, addedBytes           atomic.Int64
	duplicate, offHost, tooDeep atomic.Int64
	robots, nofollow, unusable  atomic.Int64

	mu       sync.Mutex
	failures []string // the first few, to show
}

func newCrawler(cfg config, filter filter) *crawler {
	c := &crawler{
		cfg:      cfg,
		client:   newClient(cfg),
		seen:     seenSet{filter: filter},
		frontier: newFrontier(cfg.max),
		started:  time.Now(),
	}
	if cfg.exact {
		c.seen.audit = newAudit()
	}
	return c
}

// crawl returns when all pages are fetched, the limit is reached or the context
// ends.
func (c *crawler) crawl(ctx context.Context) {
	c.client.loadRobots(ctx)
	if c.state != nil {
		c.resume()
	}
	for _, t := range c.cfg.starts {
		c.offer(t, 0)
	}

	// pop waits for the frontier, not for the context.
	stop := context.AfterFunc(ctx, c.frontier.close)
	defer stop()
	var workers sync.WaitGroup
	for range c.cfg.workers {
		workers.Go(func() {
			for {
				p, ok := c.frontier.pop()
				if !ok {
					return
				}
				c.visit(ctx, p)
				c.frontier.finish()
			}
		})
	}
	workers.Wait()

	c.elapsed = time.Since(c.started)
	c.interrupted = ctx.Err() != nil
}

// resume queues what an earlier run has left, except on a host whose robots.txt does
// not allow it any more or can't be read: that stays in the log.
func (c *crawler) resume() {
	for _, p := range c.state.pending {
		if c.client.hosts[p.origin].allows(p.path) { // the host is one of the start URLs'
			c.stats.resumed.Add(1)
			c.frontier.push(p)
		}
	}
}

// ending says why the crawl ended.
func (c *crawler) ending() string {
	switch {
	case c.interrupted:
		return "interrupted"
	case c.frontier.waiting() > 0:
		return fmt.Sprintf("stopped after %s requests (-max)", count(c.cfg.max))
	}
	return "done, no page is left to fetch"
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
	if r.redirected && p.depth == 0 {
		err = c.checkStart(r)
	}
	switch {
	case err != nil:
		c.stats.fail(p.target, err)
		return
	case r.redirected:
		c.stats.redirected.Add(1)
	default:
		c.stats.fetched.Add(1)
	}
	if r.notHTML {
		c.stats.notHTML.Add(1)
	}
	if r.truncated {
		c.stats.truncated.Add(1)
	}
	// A redirect is a click too: a server that forwards every URL to a new one
	// would otherwise never be done with.
	for _, l := range r.links {
		c.follow(r.base, l, p.depth+1)
	}
}

// checkStart returns an error if a start URL leads away from its host, such as
// from example.org to www.example.org: a crawl would end there, at nothing.
func (c *crawler) checkStart(r response) error {
	t, err := resolve(r.base, r.links[0].href)
	if err == nil && c.client.hosts[t.origin] == nil {
		err = fmt.Errorf("redirects to %s on another host: start there", t)
	}
	return err
}

// follow offers a link, unless it is nothing that a crawler may or can follow.
func (c *crawler) follow(base *url.URL, l link, depth int) {
	t, err := resolve(base, l.href)
	switch {
	case err != nil:
		c.stats.links.Add(1)
		c.stats.unusable.Add(1)
	case l.nofollow:
		c.stats.links.Add(1)
		c.stats.nofollow.Add(1)
	default:
		c.offer(t, depth)
	}
}

// offer queues a URL unless it was found before.
//
// The filter is asked last: what it has been told it can't forget, so it is told
// of nothing that won't be fetched.
func (c *crawler) offer(t target, depth int) {
	c.stats.links.Add(1)
	p := page{target: t, depth: depth}
	host, known := c.client.hosts[t.origin]
	switch {
	case !known:
		c.stats.offHost.Add(1)
	case depth > c.cfg.depth:
		c.stats.tooDeep.Add(1)
	case !host.allows(t.path):
		c.stats.robots.Add(1)
	case !c.isNew(&p):
		c.stats.duplicate.Add(1)
	default:
		c.stats.added.Add(1)
		c.stats.addedBytes.Add(int64(len(t.String())))
		c.frontier.push(p)
	}
}

// isNew reports whether a page was not found before, and takes it for found.
func (c *crawler) isNew(p *page) bool {
	if c.state == nil {
		return c.seen.add(p.String())
	}
	added := c.state.add(p)
	if !added && c.state.failed() {
		c.frontier.close() // what can't be kept must not be fetched
	}
	return added
}

// maxFailures is how many failures the summary shows: enough to see a pattern.
const maxFailures = 10

func (s *stats) fail(t target, err error) {
	s.failed.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) < maxFailures {
		s.failures = append(s.failures, fmt.Sprintf("%s: %v", t, err))
	}
}
