package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/seed3447c163/bloom"
	"golang.org/x/sync/errgroup"
)

const (
	maxHosts = 8  // hosts that are asked at the same time
	maxHops  = 10 // consecutive redirects
	maxInRow = 10 // pages of a host that fail in a row, each after all tries, before the host is left alone
)

// A crawler fetches pages and follows their links until none are left.
type crawler struct {
	seen   *bloom.BloomFilter
	depth  uint          // largest number of clicks from a start URL
	delay  time.Duration // between two requests to a host
	client http.Client
	lock   *flock.Flock // of the queue file

	hosts sync.Map     // values *host by name: the hosts of the start pages and of their redirects
	known atomic.Int64 // number of links to pages seen before

	mu     sync.Mutex     // guards all below
	levels [][]place      // waiting pages by depth
	pages  map[string]int // number of pages by kind of result
	file   *os.File       // the queue file
	broken error          // why the queue file cannot be written
}

// Kinds of results. A result is a kind, with ": " and the reason if there is one.
const fetched, partly, forbidden, failed, waiting = "fetched", "fetched in part", "forbidden", "failed", "waiting"

func kind(result string) string {
	kind, _, _ := strings.Cut(result, ": ")
	return kind
}

// A place is a waiting page, and how the crawler reached it.
type place struct {
	url   string
	depth uint // clicks from a start URL; redirects do not count
	hops  int  // redirects since the last click
}

// next returns the place of a link on a page, or of the target of a redirect.
func (at place) next(link string, redirect bool) place {
	if redirect {
		return place{link, at.depth, at.hops + 1}
	}
	return place{link, at.depth + 1, 0}
}

// newCrawler returns a crawler for n URLs. Its queue has the pages that wait in the queue file at path, or the start
// pages if the file is new.
func newCrawler(path string, n uint64, depth uint, delay time.Duration, starts []string) (*crawler, error) {
	seen, err := bloom.New(n, 1e-6, bloom.WithHash(bloom.MapHash))
	if err != nil {
		return nil, err
	}
	c := &crawler{seen: seen, depth: depth, delay: delay, pages: map[string]int{},
		client: http.Client{Transport: redirects{http.DefaultTransport}, Timeout: 10 * time.Second}}
	var first []string
	for _, start := range starts {
		if u, err := urls.Parse(start); err != nil || !isWeb(u) {
			return nil, fmt.Errorf("start URL %q, want http://… or https://…", start)
		} else if next, ok := c.follow(u, "", place{hops: -1}, true); ok {
			first = append(first, next.url)
		}
	}
	return c, c.openQueue(path, first)
}

// crawl returns when no page can be fetched now, or ctx ends. The error says why the queue file cannot be written.
//
// All pages at one depth are done before the first page of the next. Otherwise a long chain of fast pages could reach a
// URL before a short chain of slow pages does, and the depth limit would exclude pages that are near enough. A map
// could store the depth of a URL and correct it later; a filter cannot.
func (c *crawler) crawl(ctx context.Context) error {
	for depth := 0; depth < len(c.levels); depth++ {
		for len(c.levels[depth]) > 0 && ctx.Err() == nil { // again: redirects lead to pages of the same depth
			byHost := map[*host][]place{}
			for _, at := range c.levels[depth] {
				byHost[c.hostOf(at)] = append(byHost[c.hostOf(at)], at)
			}
			c.levels[depth] = nil
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(maxHosts)
			for h, pages := range byHost {
				group.Go(func() (err error) {
					for i := 0; i < len(pages) && !h.alone && err == nil && ctx.Err() == nil; i++ {
						err = c.visit(ctx, h, pages[i])
					}
					return err
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit fetches a page, follows its links and records that it is done. After a temporary error, the page still waits.
func (c *crawler) visit(ctx context.Context, h *host, at place) error {
	got, err := c.fetch(ctx, h, at.url)
	done := page{URL: at.url, Result: fetched, Redirect: got.redirect}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // interrupted
	case errors.Is(err, errLater):
		h.inRow++
		h.alone = h.alone || h.inRow == maxInRow
		log.Printf("%s: %v; host left alone for this run: %t", at.url, err, h.alone)
		return nil
	case got.redirect && at.hops == maxHops:
		err = fmt.Errorf("%s: more than %d redirects", failed, maxHops)
		got.links = nil
	case got.redirect && at.depth == 0:
		log.Printf("%s redirects to %s", at.url, got.links[0])
	}
	h.inRow = 0
	if err != nil {
		done.Result = err.Error()
		log.Printf("%s: %v", at.url, err)
	}
	var next []place
	for _, ref := range got.links {
		if to, ok := c.follow(got.base, ref, at, got.redirect); ok {
			done.Links = append(done.Links, to.url)
			next = append(next, to)
		}
	}
	return c.finish(done, next)
}

// follow returns the target of a link and adds it to the filter, if the crawler may go there and has not seen it. The
// filter comes last: it cannot forget, so it must not get a URL that will not be queued.
func (c *crawler) follow(base *address, ref string, at place, redirect bool) (next place, ok bool) {
	u, err := base.Parse(ref)
	if err != nil {
		log.Printf("%s: not followed: %v", base, err)
		return next, false
	}
	u.SetUsername("")
	u.SetPassword("")
	next = at.next(u.Href(true), redirect) // without the fragment; two spellings may be two pages
	if next.depth > c.depth || !isWeb(u) || c.hostOf(next) == nil {
		return next, false
	}
	if !c.seen.AddString(next.url) {
		c.known.Add(1)
		return next, false
	}
	return next, true
}

// hostOf returns the host of a page, or nil if the crawler must not ask it. Start pages and the targets of their
// redirects add their hosts.
func (c *crawler) hostOf(at place) *host {
	_, name, _ := parts(at.url)
	if at.depth == 0 {
		c.hosts.LoadOrStore(name, c.newHost())
	}
	found, _ := c.hosts.Load(name)
	h, _ := found.(*host)
	return h
}

// finish records that a page is done, and queues the new pages to which it led.
func (c *crawler) finish(done page, next []place) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil { // no line may follow an incomplete one
		c.broken = c.writeLine(done)
	}
	if c.broken != nil {
		return c.broken
	}
	c.pages[kind(done.Result)]++
	c.pages[waiting]--
	for _, at := range next {
		c.enqueue(at)
	}
	return nil
}

func (c *crawler) enqueue(at place) {
	for uint(len(c.levels)) <= at.depth {
		c.levels = append(c.levels, nil)
	}
	c.levels[at.depth] = append(c.levels[at.depth], at)
	c.pages[waiting]++
}

// progress describes the progress of the crawl. It may be called while the crawl runs.
func (c *crawler) progress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("Pages: %d fetched, %d fetched in part, %d forbidden by robots.txt, %d failed, %d waiting",
		c.pages[fetched], c.pages[partly], c.pages[forbidden], c.pages[failed], c.pages[waiting])
}

// summary describes the result: the pages, the fill of the filter, and whether it was large enough.
func (c *crawler) summary() string {
	stats := c.seen.Stats()
	summary := fmt.Sprintf("%s.\n%d links led to pages seen before. The filter has %d of %d planned URLs in %d bytes.",
		c.progress(), c.known.Load(), stats.EstimatedCount, stats.Params.N, c.seen.SizeBytes())
	if stats.OverP() {
		summary += "\nThe crawl has outgrown the filter: pages were skipped. Crawl again with a larger -n."
	}
	return summary
}
