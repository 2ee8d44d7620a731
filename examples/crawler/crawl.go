package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
)

const workers = 8

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	seen  *bloom.BloomFilter
	depth uint          // largest number of clicks from a start URL
	delay time.Duration // between requests to a host
	pause time.Duration // before the second try of a page; twice as long before the third

	maxPause time.Duration // even if Retry-After is longer

	client http.Client
	hosts  map[string]*host // of the start URLs

	fetched, failed, known atomic.Int64 // numbers of pages, of pages, and of links to pages seen before

	mu     sync.Mutex
	levels [][]place // waiting pages by depth
	queued int       // number of pages, waiting or done
	file   *os.File  // the queue file, or nil
	broken error     // why the queue file cannot be written
	stop   func()
}

// A place is a waiting page, and how the crawler reached it.
type place struct {
	url   *url.URL
	depth uint // clicks from a start URL; redirects do not count
	hops  int  // redirects since the last click
}

func newCrawler(n uint64, depth uint, delay time.Duration) (*crawler, error) {
	seen, err := bloom.New(n, 1e-6, bloom.WithHash(bloom.MapHash))
	c := &crawler{seen: seen, depth: depth, delay: delay, pause: time.Second, maxPause: time.Minute, hosts: map[string]*host{}, levels: make([][]place, depth+1)}
	c.client.Timeout = timeout
	c.client.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
		if via[0].URL.Path == "/robots.txt" && len(via) <= 5 { // RFC 9309, 2.3.1.2
			return nil
		}
		return http.ErrUseLastResponse // the target goes through the filter
	}
	return c, err
}

// crawl returns when all pages are done or ctx ends. path is the queue file, or "". The error says why no page was
// fetched, or what is wrong with the queue file.
//
// It works level by level: all pages at one depth are done before the first page of the next. Otherwise a long chain of
// fast pages could reach a URL before a short chain of slow pages does, and the depth limit would exclude pages that
// are near enough. A map could store the depth of a URL and correct it later; a filter cannot. (A page that waits for
// another run is done after deeper ones, so URLs that it has in common with them may have a greater depth.)
func (c *crawler) crawl(ctx context.Context, path string, starts ...string) error {
	ctx, c.stop = context.WithCancel(ctx)
	defer c.stop()
	if err := c.begin(ctx, path, starts); err != nil || ctx.Err() != nil {
		return err
	}
	for depth := range c.levels {
		for len(c.levels[depth]) > 0 { // again if there were redirects
			level := c.levels[depth]
			c.levels[depth] = nil
			var done sync.WaitGroup
			slots := make(chan struct{}, workers)
			for _, at := range level {
				slots <- struct{}{}
				done.Go(func() {
					c.visit(ctx, at) // after ctx has ended, it returns at once
					<-slots
				})
			}
			done.Wait()
		}
	}
	if c.broken == nil && c.fetched.Load() == 0 && c.waiting() == 0 && ctx.Err() == nil {
		return errors.New("nothing was fetched: all start pages failed, or robots.txt forbids them")
	}
	return c.broken
}

// begin reads the rules of the hosts, and queues the start pages or the pages in the queue file.
func (c *crawler) begin(ctx context.Context, path string, starts []string) error {
	for _, start := range starts {
		u, err := normalize(&url.URL{}, start)
		if err != nil {
			return fmt.Errorf("start URL %q: %w", start, err)
		}
		if c.hosts[u.Host] == nil {
			c.hosts[u.Host] = c.newHost(ctx, u)
		}
		if c.seen.AddString(u.String()) {
			c.levels[0] = append(c.levels[0], place{url: u})
			c.queued++
		}
	}
	if path == "" || ctx.Err() != nil {
		return nil
	}
	return c.useQueue(path)
}

// waiting returns the number of waiting pages.
func (c *crawler) waiting() int64 { return int64(c.queued) - c.fetched.Load() - c.failed.Load() }

// progress describes the progress of the crawl. It may be called while the crawl runs.
func (c *crawler) progress() string {
	return fmt.Sprintf("%d pages fetched, %d failed", c.fetched.Load(), c.failed.Load())
}

// summary describes the result: the pages, the fill of the filter, and whether it was large enough.
func (c *crawler) summary() string {
	stats := c.seen.Stats()
	summary := fmt.Sprintf("%s; %d links led to pages seen before.\nThe filter has %d of %d planned URLs in %d bytes.",
		c.progress(), c.known.Load(), stats.EstimatedCount, stats.Params.N, c.seen.SizeBytes())
	if stats.OverP() {
		summary += "\nThe crawl has outgrown the filter: pages were skipped. Crawl again with a larger -n."
	}
	return summary
}

// visit fetches a page and, except at the last level, follows its links. After a temporary error, the page still waits
// if there is a queue file.
func (c *crawler) visit(ctx context.Context, at place) {
	got, err := c.fetch(ctx, at.url)
	if err != nil && ctx.Err() != nil {
		return // interrupted
	}
	done, next := page{URL: at.url.String()}, []place(nil)
	lead := func(ref string, to place) string {
		if to.url = c.follow(got.base, ref); to.url == nil {
			return ""
		}
		next = append(next, to)
		return to.url.String()
	}
	switch {
	case err == nil && got.redirect != "" && at.hops == maxHops:
		err = fmt.Errorf("stopped after %d redirects", maxHops)
	case err == nil && got.redirect != "":
		done.Redirect = lead(got.redirect, place{depth: at.depth, hops: at.hops + 1})
	case err == nil && at.depth < c.depth:
		for _, ref := range got.links {
			if link := lead(ref, place{depth: at.depth + 1}); link != "" {
				done.Links = append(done.Links, link)
			}
		}
	}
	if err != nil {
		done.Error = err.Error()
		waits := errors.As(err, new(temporaryError)) && c.file != nil
		if !errors.Is(err, errAlone) {
			log.Printf("not fetched: %s: %v", at.url, err)
		}
		if waits {
			return
		}
	}
	c.finish(done, next)
}

// finish records that a page is done, and queues the new pages to which it led.
func (c *crawler) finish(done page, next []place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil && c.broken == nil {
		c.broken = c.writeLine(done)
	}
	if c.broken != nil {
		c.stop() // no line may follow an incomplete one
		return
	}
	c.count(done)
	for _, to := range next {
		c.levels[to.depth] = append(c.levels[to.depth], to)
		c.queued++
	}
}

func (c *crawler) count(done page) {
	if done.Error != "" {
		c.failed.Add(1)
		return
	}
	c.fetched.Add(1)
}

// follow returns the target of a link if the crawler may follow it and has not seen it; otherwise nil. The filter comes
// last: a filter cannot forget, so it must not get a URL that will not be queued.
func (c *crawler) follow(base *url.URL, ref string) *url.URL {
	u, err := normalize(base, ref)
	if err != nil {
		return nil
	}
	if host := c.hosts[u.Host]; host == nil || host.forbids(u) {
		return nil
	}
	if !c.seen.AddString(u.String()) {
		c.known.Add(1)
		return nil
	}
	return u
}
