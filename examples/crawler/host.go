package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"
)

// A host is a site to crawl, with its rules.
type host struct {
	name    string
	limiter *rate.Limiter
	rules   *robotstxt.RobotsData // nil if robots.txt could not be read

	mu    sync.Mutex
	until time.Time // no request before
	inRow int       // pages in a row that failed
	alone error     // why the host gets no more requests in this run, or nil
}

// mostInRow is the number of pages in a row, each after all tries, after whose failure a host is left alone.
const mostInRow = 5

var errAlone = errors.New("the host is left alone")

// newHost reads a host's robots.txt. If it cannot be read, the host gets no requests (RFC 9309, 2.3.1.4).
func (c *crawler) newHost(ctx context.Context, u *url.URL) *host {
	h := &host{name: u.Host, limiter: rate.NewLimiter(rate.Inf, 1)}
	robots := u.ResolveReference(&url.URL{Path: "/robots.txt"})
	var err error
	for try := range tries {
		if h.rules, err = c.readRules(ctx, robots); err == nil || ctx.Err() != nil {
			break
		}
		if try+1 < tries {
			sleep(ctx, c.pause<<try)
		}
	}
	if err != nil {
		h.leave(fmt.Errorf("%s: %w", robots, err))
		return h
	}
	delay := max(c.delay, h.rules.FindGroup(agent).CrawlDelay)
	h.limiter.SetLimit(rate.Every(delay)) // Every(0) is no limit
	return h
}

func (c *crawler) readRules(ctx context.Context, robots *url.URL) (*robotstxt.RobotsData, error) {
	resp, err := c.request(ctx, robots)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		return nil, errors.New(resp.Status)
	}
	return robotstxt.FromResponse(resp)
}

// forbids reports whether the host's rules forbid a page. If they could not be read, no page is forbidden: it waits for
// another run.
func (h *host) forbids(u *url.URL) bool {
	return h.rules != nil && !h.rules.TestAgent(u.RequestURI(), agent)
}

// wait waits until the host may get a request, or returns an error if it gets none in this run.
func (h *host) wait(ctx context.Context) error {
	for {
		if err := h.limiter.Wait(ctx); err != nil {
			return err
		}
		h.mu.Lock()
		alone, pause := h.alone, time.Until(h.until)
		h.mu.Unlock()
		if alone != nil || pause <= 0 {
			return alone
		}
		sleep(ctx, pause) // then limiter.Wait returns the error of ctx
	}
}

// rest stops requests to the host for a while.
func (h *host) rest(pause time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if until := time.Now().Add(pause); until.After(h.until) {
		h.until = until
	}
}

// answered records that a page got a final answer.
func (h *host) answered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inRow = 0
}

// failed records that all tries of a page failed.
func (h *host) failed() {
	h.mu.Lock()
	h.inRow++
	last := h.inRow == mostInRow
	h.mu.Unlock()
	if last {
		h.leave(fmt.Errorf("%d pages failed in a row", mostInRow))
	}
}

// leave stops requests to the host for this run.
func (h *host) leave(why error) {
	log.Printf("%s is left alone for this run: %v", h.name, why)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alone = temporaryError{error: fmt.Errorf("%w: %w", errAlone, why)}
}
