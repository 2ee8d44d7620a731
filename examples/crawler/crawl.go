package main

import (
	"context"
	"errors"
	"io"
	"log"
	"mime"
	"net/http"
	"net/url"
	"sync"
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
	maxBody   = 4 << 20          // bytes read per page
)

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	seen   *bloom.BloomFilter
	depth  int
	limit  rate.Limit // requests per second and host
	log    *log.Logger
	client http.Client
	hosts  map[string]*host // those of the start URLs

	mu     sync.Mutex
	counts map[string]int64 // by the names of the summary
	next   []page           // the pages one click further away
}

// A page is a URL to fetch.
type page struct {
	*url.URL
	host  *host
	depth int // clicks away from a start URL
}

// A host is a site to crawl, with its rules.
type host struct {
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData
}

func newCrawler(n uint64, depth int, perSecond float64, failures io.Writer) (*crawler, error) {
	seen, err := bloom.New(n, 1e-6, bloom.WithHash(bloom.MapHash))
	c := &crawler{seen: seen, depth: depth, limit: rate.Limit(perSecond), log: log.New(failures, "not fetched: ", 0),
		hosts: map[string]*host{}, counts: map[string]int64{}}
	c.client.Timeout = timeout
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the target goes through the filter
	}
	return c, err
}

// crawl returns when all pages are fetched or ctx ends.
//
// It works level by level: all pages at one depth are done before the first page of the next.
// Otherwise a long chain of fast pages could reach a URL before a short chain of slow pages does,
// and the depth limit would cut off pages that are near enough. An exact set could store the depth
// and correct it; a filter cannot.
func (c *crawler) crawl(ctx context.Context, starts []*url.URL) {
	for _, u := range starts {
		c.hosts[u.Host] = c.newHost(ctx, u)
	}
	for _, u := range starts {
		c.follow(u, "", 0)
	}
	for len(c.next) > 0 && ctx.Err() == nil {
		level := c.next
		c.next = nil
		pages := make(chan page)
		var done sync.WaitGroup
		for range workers {
			done.Go(func() {
				for p := range pages {
					c.visit(ctx, p)
				}
			})
		}
		for _, p := range level {
			pages <- p // after ctx has ended, visit returns at once
		}
		close(pages)
		done.Wait()
	}
}

// newHost fetches a host's robots.txt. If it cannot be read, nothing is allowed (RFC 9309, 2.3.1.4).
func (c *crawler) newHost(ctx context.Context, u *url.URL) *host {
	robots := u.ResolveReference(&url.URL{Path: "/robots.txt"})
	resp, err := c.get(ctx, robots)
	var rules *robotstxt.RobotsData
	if err == nil {
		defer resp.Body.Close()
		if rules, err = robotstxt.FromResponse(resp); err == nil && resp.StatusCode >= 500 {
			err = errors.New(resp.Status)
		}
	}
	if err != nil {
		c.fail(ctx, robots, err)
		rules, _ = robotstxt.FromStatusAndBytes(http.StatusServiceUnavailable, nil)
	}
	limit := min(c.limit, rate.Every(rules.FindGroup(agent).CrawlDelay)) // Every(0) is no limit
	return &host{rate.NewLimiter(limit, 1), rules}
}

// visit waits for the host's rate limit, fetches a page and follows its links.
func (c *crawler) visit(ctx context.Context, p page) {
	base, links, err := c.fetch(ctx, p)
	if err != nil {
		c.fail(ctx, p.URL, err)
		return
	}
	c.count("fetched")
	for _, ref := range links {
		c.follow(base, ref, p.depth+1)
	}
}

// fetch returns the links of a page and the URL that they are relative to. A redirect is a link too:
// a server may forward every URL to a new one.
func (c *crawler) fetch(ctx context.Context, p page) (base *url.URL, links []string, err error) {
	if err := p.host.limiter.Wait(ctx); err != nil {
		return nil, nil, err
	}
	resp, err := c.get(ctx, p.URL)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	location := resp.Header.Get("Location")
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 3 && location != "":
		return p.URL, []string{location}, nil
	case resp.StatusCode/100 != 2:
		return nil, nil, errors.New(resp.Status)
	case mediaType == "text/html":
		return readLinks(io.LimitReader(resp.Body, maxBody), p.URL)
	}
	return p.URL, nil, nil
}

func (c *crawler) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"User-Agent": {userAgent}}}
	return c.client.Do(req.WithContext(ctx))
}

// follow queues the target of a link if the crawler may follow it and has not seen it. The filter
// comes last: a filter cannot forget, so it must not learn a URL that is not queued.
func (c *crawler) follow(base *url.URL, ref string, depth int) {
	c.count("links")
	u, err := normalize(base, ref)
	if err != nil {
		c.count("unusable")
		return
	}
	host, known := c.hosts[u.Host]
	switch {
	case !known:
		c.count("off-host")
	case depth > c.depth:
		c.count("too deep")
	case !host.rules.TestAgent(u.RequestURI(), agent):
		c.count("robots.txt")
	case !c.seen.AddString(u.String()):
		c.count("duplicate")
	default:
		c.count("new")
		c.mu.Lock()
		c.next = append(c.next, page{u, host, depth})
		c.mu.Unlock()
	}
}

func (c *crawler) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

func (c *crawler) fail(ctx context.Context, u *url.URL, err error) {
	if ctx.Err() != nil {
		return // interrupted
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL
	}
	c.count("failed")
	c.log.Printf("%s: %v", u, err)
}
