package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"
)

const (
	agent     = "bloom-crawler" // the name that robots.txt knows us by
	userAgent = agent + "/1.0 (+https://github.com/seed3447c163/bloom)"

	// maxRobots is how much of a robots.txt a crawler must at least read, and
	// more would be no robots.txt (RFC 9309, section 2.5).
	maxRobots = 500 << 10
)

// A client fetches pages from the hosts it knows. It is safe for concurrent use
// by multiple goroutines once loadRobots has returned.
type client struct {
	pages   *http.Client
	robots  *http.Client
	maxBody int64
	hosts   map[string]*host // by origin, never changed after newClient
}

// A host is a site that may be crawled, with its rules.
type host struct {
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData // nil if nothing may be fetched
	problem error                 // why rules is nil
}

func newClient(cfg config) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = cfg.workers // the default, 2, makes the others reconnect
	c := &client{
		// Redirect targets are URLs of their own, so get hands them to the filter.
		pages: &http.Client{
			Transport: transport,
			Timeout:   cfg.timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
		// A robots.txt counts wherever it is redirected to (RFC 9309, section 2.3.1.2).
		robots:  &http.Client{Transport: transport, Timeout: cfg.timeout},
		maxBody: cfg.maxBody,
		hosts:   make(map[string]*host),
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
			h.rules, h.problem = c.fetchRobots(ctx, origin)
			if h.problem != nil {
				return
			}
			if delay := h.rules.FindGroup(agent).CrawlDelay; delay > 0 {
				h.limiter.SetLimit(min(h.limiter.Limit(), rate.Every(delay)))
			}
		})
	}
	wg.Wait()
}

func (c *client) fetchRobots(ctx context.Context, origin string) (*robotstxt.RobotsData, error) {
	resp, err := do(ctx, c.robots, origin+"/robots.txt")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 500 {
		return nil, errors.New(resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRobots))
	if err != nil {
		return nil, err
	}
	return robotstxt.FromStatusAndBytes(resp.StatusCode, body)
}

// allows reports whether a path, with its query, may be fetched.
func (h *host) allows(path string) bool {
	return h.problem == nil && h.rules.TestAgent(path, agent)
}

// A response is what a page had to say.
type response struct {
	base       *url.URL // what the links are relative to
	links      []link
	bytes      int64
	redirected bool // links has the one target
	notHTML    bool // and so was not read
	truncated  bool // read only up to the limit
}

// get fetches a page of a known host when it is that host's turn.
func (c *client) get(ctx context.Context, t target) (response, error) {
	if err := c.hosts[t.origin].limiter.Wait(ctx); err != nil {
		return response{}, err
	}
	resp, err := do(ctx, c.pages, t.String())
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()

	location := resp.Header.Get("Location")
	mediaType, _, typeErr := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch r := (response{base: resp.Request.URL}); {
	case resp.StatusCode/100 == 3 && location != "":
		r.redirected = true
		r.links = []link{{href: location}}
		return r, nil
	case resp.StatusCode/100 != 2:
		return r, errors.New(resp.Status)
	case typeErr != nil || mediaType != "text/html":
		r.notHTML = true
		return r, nil
	default:
		return c.read(r, resp.Body)
	}
}

// read finds the links in the part of a page that the size limit allows.
func (c *client) read(r response, body io.Reader) (response, error) {
	// One byte more than allowed, to tell a page that ends there from one that
	// goes on.
	limited := &io.LimitedReader{R: body, N: c.maxBody + 1}
	base, links, err := readLinks(limited, r.base)
	r.bytes = c.maxBody + 1 - limited.N
	if err != nil {
		return r, explain(err, c.pages.Timeout)
	}
	r.base, r.links, r.truncated = base, links, limited.N == 0
	return r, nil
}

func do(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	resp, err := client.Do(req)
	return resp, explain(err, client.Timeout)
}

// explain puts an error of net/http in fewer words: it repeats the URL, which the
// caller has, and is lengthy about timeouts.
func explain(err error, timeout time.Duration) error {
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return fmt.Errorf("not finished within %v", timeout)
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// problems says, sorted, which hosts were not crawled and why.
func (c *client) problems() []string {
	var problems []string
	for origin, h := range c.hosts {
		if h.problem != nil {
			problems = append(problems, fmt.Sprintf("%s: its robots.txt can't be read: %v", origin, h.problem))
		}
	}
	slices.Sort(problems)
	return problems
}
