package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"
)

const (
	agent     = "bloom-crawler" // the name in robots.txt
	userAgent = agent + "/1.0 (+https://github.com/seed3447c163/bloom)"
	workers   = 8
	timeout   = 10 * time.Second // per request
	maxBody   = 4 << 20          // bytes read per page or robots.txt
)

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	seen   *bloom.BloomFilter
	depth  uint          // most clicks away from a start URL
	delay  time.Duration // between requests to a host
	client http.Client
	hosts  map[string]*host // those of the start URLs

	fetched, failed, known atomic.Int64 // pages, pages, and links to pages that were seen before

	mu   sync.Mutex
	next []*url.URL // the pages one click further away
}

// A host is a site to crawl, with its rules.
type host struct {
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData
}

func newCrawler(n uint64, depth uint, delay time.Duration) (*crawler, error) {
	seen, err := bloom.New(n, 1e-6, bloom.WithHash(bloom.MapHash))
	c := &crawler{seen: seen, depth: depth, delay: delay, hosts: map[string]*host{}}
	c.client.Timeout = timeout
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the target goes through the filter
	}
	return c, err
}

// crawl returns when all pages are fetched or ctx ends. Its error says why no page was fetched.
//
// It works level by level: all pages at one depth are done before the first page of the next.
// Otherwise a long chain of fast pages could reach a URL before a short chain of slow pages does,
// and the depth limit would cut off pages that are near enough. An exact set could store the depth
// and correct it; a filter cannot.
func (c *crawler) crawl(ctx context.Context, starts ...string) error {
	for _, start := range starts {
		u, err := normalize(&url.URL{}, start)
		if err != nil {
			return fmt.Errorf("start URL %q: %w", start, err)
		}
		c.hosts[u.Host] = c.newHost(ctx, u)
		c.follow(u, "")
	}
	for depth := uint(0); depth <= c.depth && len(c.next) > 0 && ctx.Err() == nil; depth++ {
		level := c.next
		c.next = nil
		var done sync.WaitGroup
		slots := make(chan struct{}, workers)
		for _, u := range level {
			slots <- struct{}{}
			done.Go(func() {
				c.visit(ctx, u, depth < c.depth) // after ctx has ended, it returns at once
				<-slots
			})
		}
		done.Wait()
	}
	if c.fetched.Load() == 0 && ctx.Err() == nil {
		return errors.New("nothing was fetched: all start pages failed, or robots.txt forbids them")
	}
	return nil
}

// summary says what was fetched, and whether the filter was large enough.
func (c *crawler) summary() string {
	summary := fmt.Sprintf("%d pages fetched, %d failed, %d links led to pages seen before; filter: %v",
		c.fetched.Load(), c.failed.Load(), c.known.Load(), c.seen)
	if c.seen.Stats().Load() > 1 {
		summary += "\nThe crawl has outgrown the filter: pages were skipped. Crawl again with a larger -n."
	}
	return summary
}

// newHost fetches a host's robots.txt. If it cannot be read, nothing is allowed (RFC 9309, 2.3.1.4).
func (c *crawler) newHost(ctx context.Context, u *url.URL) *host {
	robots := u.ResolveReference(&url.URL{Path: "/robots.txt"})
	resp, err := c.get(ctx, robots)
	var rules *robotstxt.RobotsData
	if err == nil {
		defer resp.Body.Close()
		rules, err = robotstxt.FromResponse(resp)
	}
	if err != nil {
		c.fail(ctx, robots, err)
		rules, _ = robotstxt.FromStatusAndBytes(http.StatusServiceUnavailable, nil)
	}
	delay := max(c.delay, rules.FindGroup(agent).CrawlDelay)
	return &host{rate.NewLimiter(rate.Every(delay), 1), rules} // Every(0) is no limit
}

// visit waits for the host's rate limit, fetches a page and, except at the last level, follows its links.
func (c *crawler) visit(ctx context.Context, u *url.URL, follow bool) {
	base, links, err := c.fetch(ctx, u)
	if err != nil {
		c.fail(ctx, u, err)
		return
	}
	c.fetched.Add(1)
	if !follow {
		return
	}
	for _, ref := range links {
		c.follow(base, ref)
	}
}

// fetch returns the links of a page and the URL that they are relative to. A redirect is a link too:
// a server may forward every URL to a new one.
func (c *crawler) fetch(ctx context.Context, u *url.URL) (base *url.URL, links []string, err error) {
	if err := c.hosts[u.Host].limiter.Wait(ctx); err != nil {
		return nil, nil, err
	}
	resp, err := c.get(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	location := resp.Header.Get("Location")
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 3 && location != "":
		return u, []string{location}, nil
	case resp.StatusCode/100 != 2:
		return nil, nil, errors.New(resp.Status)
	case mediaType == "text/html":
		return readLinks(resp.Body, u)
	}
	return u, nil, nil
}

// A body is the beginning of an answer.
type body struct {
	io.Reader
	io.Closer
}

func (c *crawler) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"User-Agent": {userAgent}}}
	resp, err := c.client.Do(req.WithContext(ctx))
	if err == nil {
		resp.Body = body{io.LimitReader(resp.Body, maxBody), resp.Body}
	}
	return resp, err
}

// follow queues the target of a link if the crawler may follow it and has not seen it. The filter
// comes last: a filter cannot forget, so it must not learn a URL that is not queued.
func (c *crawler) follow(base *url.URL, ref string) {
	u, err := normalize(base, ref)
	if err != nil {
		return
	}
	host := c.hosts[u.Host]
	if host == nil || !host.rules.TestAgent(u.RequestURI(), agent) {
		return
	}
	if !c.seen.AddString(u.String()) {
		c.known.Add(1)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = append(c.next, u)
}

func (c *crawler) fail(ctx context.Context, u *url.URL, err error) {
	if ctx.Err() == nil { // not interrupted
		c.failed.Add(1)
		log.Printf("not fetched: %s: %v", u, err)
	}
}
