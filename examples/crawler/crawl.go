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
	"os"
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

	mu     sync.Mutex
	levels [][]*url.URL // pages by their clicks away from a start
	queued int          // pages, done ones too
	file   *os.File     // the queue file, or nil
	broken error        // why the queue file cannot be written
	stop   func()
}

// A host is a site to crawl, with its rules.
type host struct {
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData
}

func newCrawler(n uint64, depth uint, delay time.Duration) (*crawler, error) {
	seen, err := bloom.New(n, 1e-6, bloom.WithHash(bloom.MapHash))
	c := &crawler{seen: seen, depth: depth, delay: delay, hosts: map[string]*host{}, levels: make([][]*url.URL, depth+1)}
	c.client.Timeout = timeout
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the target goes through the filter
	}
	return c, err
}

// crawl returns when all pages are fetched or ctx ends. Its error says why no page was fetched, or what is
// wrong with the queue file at path; "" stands for none.
//
// It works level by level: all pages at one depth are done before the first page of the next.
// Otherwise a long chain of fast pages could reach a URL before a short chain of slow pages does,
// and the depth limit would cut off pages that are near enough. An exact set could store the depth
// and correct it; a filter cannot.
func (c *crawler) crawl(ctx context.Context, path string, starts ...string) error {
	ctx, c.stop = context.WithCancel(ctx)
	defer c.stop()
	if err := c.begin(ctx, path, starts); err != nil || ctx.Err() != nil {
		return err
	}
	for depth := range c.depth + 1 {
		level := c.levels[depth]
		c.levels[depth] = nil
		var done sync.WaitGroup
		slots := make(chan struct{}, workers)
		for _, u := range level {
			slots <- struct{}{}
			done.Go(func() {
				c.visit(ctx, u, depth) // after ctx has ended, it returns at once
				<-slots
			})
		}
		done.Wait()
	}
	if c.broken == nil && c.fetched.Load() == 0 && ctx.Err() == nil {
		return errors.New("nothing was fetched: all start pages failed, or robots.txt forbids them")
	}
	return c.broken
}

// begin reads the rules of the hosts, and lets the first pages wait.
func (c *crawler) begin(ctx context.Context, path string, starts []string) error {
	for _, start := range starts {
		u, err := normalize(&url.URL{}, start)
		if err != nil {
			return fmt.Errorf("start URL %q: %w", start, err)
		}
		if c.hosts[u.Host], err = c.newHost(ctx, u); err != nil && ctx.Err() == nil {
			if path != "" {
				return err // all pages would be forbidden, and done
			}
			log.Printf("no page of the host may be fetched: %v", err)
		}
		if c.seen.AddString(u.String()) {
			c.levels[0] = append(c.levels[0], u)
			c.queued++
		}
	}
	if path == "" || ctx.Err() != nil {
		return nil
	}
	return c.useQueue(path)
}

// waiting returns how many pages wait.
func (c *crawler) waiting() int64 { return int64(c.queued) - c.fetched.Load() - c.failed.Load() }

// progress says how far the crawl is, also while it runs.
func (c *crawler) progress() string {
	return fmt.Sprintf("%d pages fetched, %d failed", c.fetched.Load(), c.failed.Load())
}

// summary says what was fetched, whether the filter was large enough, and what can be done next.
func (c *crawler) summary() string {
	stats := c.seen.Stats()
	summary := fmt.Sprintf("%s; %d links led to pages seen before.\nThe filter has %d of %d planned URLs in %d bytes.",
		c.progress(), c.known.Load(), stats.EstimatedCount, stats.Params.N, c.seen.SizeBytes())
	if stats.OverP() {
		summary += "\nThe crawl has outgrown the filter: pages were skipped. Crawl again with a larger -n."
	}
	return summary
}

// newHost fetches a host's robots.txt. If it cannot be read, nothing is allowed (RFC 9309, 2.3.1.4), and
// there is an error.
func (c *crawler) newHost(ctx context.Context, u *url.URL) (*host, error) {
	robots := u.ResolveReference(&url.URL{Path: "/robots.txt"})
	resp, err := c.get(ctx, robots)
	var rules *robotstxt.RobotsData
	if err == nil {
		defer resp.Body.Close()
		if rules, err = robotstxt.FromResponse(resp); resp.StatusCode >= 500 {
			err = errors.New(resp.Status)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", robots, err)
		rules, _ = robotstxt.FromStatusAndBytes(http.StatusServiceUnavailable, nil)
	}
	delay := max(c.delay, rules.FindGroup(agent).CrawlDelay)
	return &host{rate.NewLimiter(rate.Every(delay), 1), rules}, err // Every(0) is no limit
}

// visit waits for the host's rate limit, fetches a page and, except at the last level, follows its links.
func (c *crawler) visit(ctx context.Context, u *url.URL, depth uint) {
	base, refs, err := c.fetch(ctx, u)
	if err != nil && ctx.Err() != nil {
		return // interrupted: the page still waits
	}
	done, links := page{URL: u.String()}, []*url.URL(nil)
	if err != nil {
		done.Error = err.Error()
		log.Printf("not fetched: %s: %v", u, err)
	} else if depth < c.depth {
		for _, ref := range refs {
			if link := c.follow(base, ref); link != nil {
				links = append(links, link)
				done.Links = append(done.Links, link.String())
			}
		}
	}
	c.finish(done, depth, links)
}

// finish notes that a page is done, and lets its new links wait.
func (c *crawler) finish(done page, depth uint, links []*url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil && c.broken == nil {
		c.broken = c.writeLine(done)
	}
	if c.broken != nil {
		c.stop() // no line may follow one that is cut
		return
	}
	c.count(done)
	if len(links) > 0 {
		c.levels[depth+1] = append(c.levels[depth+1], links...)
		c.queued += len(links)
	}
}

func (c *crawler) count(done page) {
	if done.Error != "" {
		c.failed.Add(1)
		return
	}
	c.fetched.Add(1)
}

// fetch returns the links of a page and the URL that they are relative to. A redirect is a link too:
// a server may forward every URL to a new one.
func (c *crawler) fetch(ctx context.Context, u *url.URL) (base *url.URL, links []string, err error) {
	host := c.hosts[u.Host]
	if !host.rules.TestAgent(u.RequestURI(), agent) {
		return nil, nil, errors.New("robots.txt forbids it")
	}
	if err := host.limiter.Wait(ctx); err != nil {
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

// follow returns the target of a link if the crawler may follow it and has not seen it; otherwise nil. The
// filter comes last: a filter cannot forget, so it must not learn a URL that will not wait.
func (c *crawler) follow(base *url.URL, ref string) *url.URL {
	u, err := normalize(base, ref)
	if err != nil {
		return nil
	}
	host := c.hosts[u.Host]
	if host == nil || !host.rules.TestAgent(u.RequestURI(), agent) {
		return nil
	}
	if !c.seen.AddString(u.String()) {
		c.known.Add(1)
		return nil
	}
	return u
}
