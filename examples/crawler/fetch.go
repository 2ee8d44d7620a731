package main

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"
)

const (
	agent     = "bloom-crawler" // the name in robots.txt
	userAgent = agent + "/1.0 (+https://github.com/seed3447c163/bloom)"
	timeout   = 10 * time.Second // per request
	maxBody   = 4 << 20          // bytes read per page
)

// A client fetches pages from the hosts of the start URLs. It is safe for concurrent use by
// multiple goroutines once loadRobots has returned.
type client struct {
	http  http.Client
	hosts map[string]*host // by origin
}

// A host is a site to crawl, with its rules.
type host struct {
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData
	problem error // why the rules are unknown; then nothing is fetched
}

func newClient(cfg config) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = cfg.workers // the default of 2 closes the other connections
	c := &client{http: http.Client{Transport: transport, Timeout: timeout}, hosts: map[string]*host{}}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the target goes through the filter
	}
	limit := rate.Inf
	if cfg.rate > 0 {
		limit = rate.Limit(cfg.rate)
	}
	for _, t := range cfg.starts {
		c.hosts[t.origin] = &host{limiter: rate.NewLimiter(limit, 1)}
	}
	return c
}

// loadRobots fetches the robots.txt of all hosts. A host with unreadable rules is not crawled
// (RFC 9309, 2.3.1.4).
func (c *client) loadRobots(ctx context.Context) {
	var wg sync.WaitGroup
	for origin, h := range c.hosts {
		wg.Go(func() {
			resp, err := c.do(ctx, origin+"/robots.txt")
			if err == nil {
				defer resp.Body.Close()
				if err = errors.New(resp.Status); resp.StatusCode < 500 {
					h.rules, err = robotstxt.FromResponse(resp)
				}
			}
			if h.problem = err; err != nil {
				return
			}
			if delay := h.rules.FindGroup(agent).CrawlDelay; delay > 0 {
				h.limiter.SetLimit(min(h.limiter.Limit(), rate.Every(delay)))
			}
		})
	}
	wg.Wait()
}

// allows reports whether a path, with its query, may be fetched.
func (h *host) allows(path string) bool {
	return h.problem == nil && h.rules.TestAgent(path, agent)
}

// A response is the content of a page.
type response struct {
	base       *url.URL // the links are relative to it
	links      []link   // the target of a redirect; none without HTML
	redirected bool
}

// get waits for the host's rate limit and fetches a page.
func (c *client) get(ctx context.Context, t target) (r response, err error) {
	if err := c.hosts[t.origin].limiter.Wait(ctx); err != nil {
		return r, err
	}
	resp, err := c.do(ctx, t.String())
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	r.base = resp.Request.URL
	location := resp.Header.Get("Location")
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 3 && location != "":
		r.redirected, r.links = true, []link{{href: location}}
	case resp.StatusCode/100 != 2:
		return r, errors.New(resp.Status)
	case mediaType == "text/html":
		r.base, r.links, err = readLinks(io.LimitReader(resp.Body, maxBody), r.base)
	}
	return r, err
}

func (c *client) do(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	return c.http.Do(req)
}
