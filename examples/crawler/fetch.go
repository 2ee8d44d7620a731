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
	agent     = "bloom-crawler" // the name that robots.txt knows us by
	userAgent = agent + "/1.0 (+https://github.com/seed3447c163/bloom)"
	timeout   = 10 * time.Second // of a request
	maxBody   = 4 << 20          // bytes of a page that are read
)

// A client fetches pages from the hosts it knows. It is safe for concurrent use
// by multiple goroutines once loadRobots has returned.
type client struct {
	http  http.Client
	hosts map[string]*host // by origin, never changed after newClient
}

// A host is a site that may be crawled, with its rules.
type host struct {
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData
	problem error // why there are no rules, and nothing may be fetched
}

func newClient(cfg config) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = cfg.workers // the default, 2, makes the others reconnect
	c := &client{http: http.Client{Transport: transport, Timeout: timeout}, hosts: map[string]*host{}}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the target is a URL of its own, for the filter
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

// loadRobots fetches the robots.txt of all hosts. A host whose rules can't be
// read is not crawled, as RFC 9309 demands.
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

// A response is what a page had to say.
type response struct {
	base       *url.URL // what the links are relative to
	links      []link   // the one target if it is redirected; none if it is not HTML
	bytes      int64
	redirected bool
}

// get fetches a page of a known host when it is that host's turn.
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
		body := &io.LimitedReader{R: resp.Body, N: maxBody}
		r.base, r.links, err = readLinks(body, r.base)
		r.bytes = maxBody - body.N
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
