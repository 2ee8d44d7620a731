package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/seed3447c163/bloom"
)

// A page is a URL to fetch.
type page struct {
	target
	depth int // clicks away from a start URL
}

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	cfg    config
	client *client
	seen   *bloom.BloomFilter
	ending string // why the crawl ended

	mu       sync.Mutex
	counts   map[string]int64 // by the names of the summary
	next     []page           // the pages one click further away
	failures []string         // the first few
}

func newCrawler(cfg config) (*crawler, error) {
	seen, err := newSeen(cfg)
	return &crawler{cfg: cfg, client: newClient(cfg), seen: seen, counts: map[string]int64{}}, err
}

func (c *crawler) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

const interrupted = "interrupted"

// crawl returns when all pages are fetched, the limit is reached or ctx ends.
//
// It works level by level: all pages at one depth are done before the first page of the next.
// Otherwise a long chain of fast pages could reach a URL before a short chain of slow pages does,
// and the depth limit would cut off pages that are near enough. An exact set could store the depth
// and correct it; a filter cannot.
func (c *crawler) crawl(ctx context.Context) {
	c.client.loadRobots(ctx)
	for _, t := range c.cfg.starts {
		c.follow(&url.URL{}, link{href: t.String()}, 0)
	}
	c.ending = "done"
	requests := 0
	for len(c.next) > 0 && ctx.Err() == nil {
		level := c.next
		c.next = nil
		if left := c.cfg.max - requests; c.cfg.max > 0 && left <= len(level) {
			level, c.ending = level[:left], fmt.Sprintf("stopped after %d requests", c.cfg.max)
		}
		requests += len(level)
		c.visitAll(ctx, level)
		if c.cfg.max > 0 && requests == c.cfg.max {
			break
		}
	}
	if ctx.Err() != nil {
		c.ending = interrupted
	}
}

func (c *crawler) visitAll(ctx context.Context, level []page) {
	pages := make(chan page)
	var workers sync.WaitGroup
	for range c.cfg.workers {
		workers.Go(func() {
			for p := range pages {
				c.visit(ctx, p)
			}
		})
	}
	for _, p := range level {
		pages <- p // after ctx has ended, visit returns at once
	}
	close(pages)
	workers.Wait()
}

// visit fetches a page and follows its links.
func (c *crawler) visit(ctx context.Context, p page) {
	r, err := c.client.get(ctx, p.target)
	if ctx.Err() != nil {
		return // the page did not fail
	}
	if r.redirected && p.depth == 0 { // elsewhere, the crawl would end with nothing
		if t, failed := resolve(r.base, r.links[0].href); failed == nil && c.client.hosts[t.origin] == nil {
			err = fmt.Errorf("redirects to %s on another host: start there", t)
		}
	}
	switch {
	case err != nil:
		c.fail(p.target, err)
		return
	case r.redirected:
		c.count("redirects")
	default:
		c.count("pages")
	}
	// A redirect is a click too: a server may forward every URL to a new one.
	for _, l := range r.links {
		c.follow(r.base, l, p.depth+1)
	}
}

func (c *crawler) fail(t target, err error) {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL
	}
	c.count("failed")
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) < 10 {
		c.failures = append(c.failures, fmt.Sprintf("%s: %v", t, err))
	}
}

// follow queues the target of a link if the crawler may follow it and has not seen it. The filter
// comes last: a filter cannot forget, so it must not learn a URL that is not queued.
func (c *crawler) follow(base *url.URL, l link, depth int) {
	c.count("links")
	t, err := resolve(base, l.href)
	host, known := c.client.hosts[t.origin]
	switch {
	case err != nil:
		c.count("unusable")
	case l.nofollow:
		c.count("nofollow")
	case !known:
		c.count("off-host")
	case depth > c.cfg.depth:
		c.count("too deep")
	case !host.allows(t.path):
		c.count("robots.txt")
	case !c.seen.AddString(t.String()):
		c.count("duplicate")
	default:
		c.count("new")
		c.mu.Lock()
		c.next = append(c.next, page{t, depth})
		c.mu.Unlock()
	}
}
