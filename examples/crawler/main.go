// Crawler is a concurrent web crawler. A Bloom filter is its only memory of the URLs it has seen:
//
//	if seen.AddString(url) {
//		next = append(next, page) // new, and no other worker gets true
//	}
//
// One call asks and records, from any number of workers, without a lock. A page whose URL is a
// false positive is never fetched, so the rate is 1e-6. Web pages choose the keys, so the hash is
// MapHash: its seed is random and stays in this process.
//
// The crawler stays on the hosts of the start URLs, obeys robots.txt and rel=nofollow, and limits
// its rate per host. Without a URL it serves a site of its own on the loopback interface: many
// spellings of few URLs, and a calendar without end.
//
// The exit status is 0, also after Ctrl-C; 1 if nothing could be fetched; 2 for a bad flag or URL.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config holds the command line.
type config struct {
	workers, depth, max int
	rate                float64
	n                   uint64
	p                   float64
	starts              []target
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stderr)
	status := 2
	if err == nil {
		status, err = 1, crawlAndReport(ctx, cfg, stdout, stderr)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "crawler:", err)
	return status
}

func parseFlags(args []string, stderr io.Writer) (cfg config, err error) {
	fs := flag.NewFlagSet("crawler", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.workers, "workers", 8, "`number` of concurrent fetches")
	fs.Float64Var(&cfg.rate, "rate", 5, "at most this many `requests` per second and host; 0 for no limit,\nwhich the built-in site always gets")
	fs.IntVar(&cfg.depth, "depth", 8, "follow links up to this many `clicks` away from a start URL")
	fs.IntVar(&cfg.max, "max", 0, "stop after this many `requests`; 0 for no limit")
	fs.Uint64Var(&cfg.n, "n", 1_000_000, "make the filter for this many `URLs`")
	fs.Float64Var(&cfg.p, "p", 1e-6, "false-positive `rate` at n URLs: the share of pages that are never fetched")
	if err := fs.Parse(args); err != nil {
		return cfg, err
	}
	for _, arg := range fs.Args() {
		t, err := resolve(&url.URL{}, arg)
		if err != nil {
			return cfg, fmt.Errorf("start URL %q: %w", arg, err)
		}
		cfg.starts = append(cfg.starts, t)
	}
	if cfg.workers < 1 || cfg.depth < 0 || cfg.max < 0 || !(cfg.rate >= 0) {
		return cfg, fmt.Errorf("-workers %d -depth %d -max %d -rate %g: want at least one worker and no negative number", cfg.workers, cfg.depth, cfg.max, cfg.rate)
	}
	_, err = newSeen(cfg)
	return cfg, err
}

func newSeen(cfg config) (*bloom.BloomFilter, error) {
	return bloom.New(cfg.n, cfg.p, bloom.WithHash(bloom.MapHash))
}

func crawlAndReport(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	if len(cfg.starts) == 0 {
		site := httptest.NewServer(slow(siteHandler(), siteDelay))
		defer site.Close()
		cfg.starts, cfg.rate = []target{{site.URL, "/"}}, 0
	}
	c, err := newCrawler(cfg)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, "crawling", strings.Trim(fmt.Sprint(cfg.starts), "[]")); err != nil {
		return err
	}
	done := make(chan struct{})
	go c.showProgress(stderr, done)
	started := time.Now()
	c.crawl(ctx)
	close(done)
	return c.report(stdout, time.Since(started))
}

// showProgress writes a line per second until done is closed.
func (c *crawler) showProgress(w io.Writer, done <-chan struct{}) {
	for {
		select {
		case <-time.After(time.Second):
			c.mu.Lock()
			fmt.Fprintf(w, "%d fetched, %d failed, %d in the filter\n", c.counts["pages"], c.counts["failed"], c.counts["new"])
			c.mu.Unlock()
		case <-done:
			return
		}
	}
}

// report writes the summary. It returns an error if nothing was fetched.
func (c *crawler) report(w io.Writer, took time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s in %v\n\n", c.ending, took.Round(time.Millisecond))
	for _, row := range [][2]string{
		{"pages", "fetched"},
		{"redirects", "their targets count as links"},
		{"failed", ""},
		{"links", "including the start URLs"},
		{"new", "added to the filter"},
		{"duplicate", "skipped, because AddString returned false"},
		{"off-host", ""},
		{"too deep", "more clicks away than -depth"},
		{"robots.txt", "forbidden"},
		{"nofollow", ""},
		{"unusable", "mailto: and the like, or no URL"},
	} {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%10s %-10s  %s", humanize.Comma(c.counts[row[0]]), row[0], row[1]), " "))
	}
	s := c.seen.Stats()
	fmt.Fprintf(&b, "\nfilter: %s for %s URLs, %.2g %% of its bits set, false-positive rate now %.2g\n",
		humanize.IBytes(s.SizeBytes), humanize.Comma(int64(s.N)), 100*s.FillRatio, s.EstimatedFalsePositiveRate)
	if uint64(c.counts["new"]) > s.N {
		fmt.Fprintf(&b, "The crawl has outgrown the filter: pages were skipped. Crawl again with a larger -n.\n")
	}
	for origin, h := range c.client.hosts {
		if h.problem != nil {
			fmt.Fprintf(&b, "not crawled: %s: its robots.txt cannot be read: %v\n", origin, h.problem)
		}
	}
	for _, failure := range c.failures {
		fmt.Fprintln(&b, "failed:", failure)
	}
	_, err := b.WriteTo(w)
	if err == nil && c.counts["pages"] == 0 && c.ending != interrupted {
		err = errors.New("nothing was fetched")
	}
	return err
}
