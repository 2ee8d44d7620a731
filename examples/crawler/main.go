// Crawler is a small concurrent web crawler whose only memory of the URLs it has
// seen is a Bloom filter:
//
//	if filter.AddString(url) {
//		next = append(next, url) // definitely new, and no other worker gets true
//	}
//
// That is one call for "have we seen this?" and "now we have", from any number of
// workers, without a lock. A false positive is a page that is never fetched, which is
// why p is 1e-6 by default; no page is fetched twice.
//
// It stays on the hosts of the start URLs, obeys robots.txt and rel=nofollow, and
// keeps to a rate per host. Without a URL it crawls a site of its own, served
// over loopback: many links to few pages, spelled in many ways, and a calendar without
// end. With -exact an exact set runs beside the filter and every difference is reported.
//
// The exit status is 0, also when Ctrl-C ended the crawl; 1 if nothing could be
// fetched or the filter broke its promise; 2 for a bad flag or URL.
package main

import (
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

	"github.com/seed3447c163/bloom"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills as usual
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the command line says.
type config struct {
	workers, depth, max int
	rate                float64
	n                   uint64
	p                   float64
	exact               bool
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

func crawlAndReport(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	intro := "crawling " + strings.Trim(fmt.Sprint(cfg.starts), "[]")
	if len(cfg.starts) == 0 {
		site := httptest.NewServer(slow(siteHandler(), siteDelay))
		defer site.Close()
		cfg.starts = []target{{site.URL, "/"}}
		intro = fmt.Sprintf("no URL given: crawling a built-in site at %s/ (it takes %v to answer)", site.URL, siteDelay)
	}
	seen, err := bloom.New(cfg.n, cfg.p)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "%s\n%d workers, %g requests/s per host (0: no limit), depth %d, filter for %s URLs at p = %g\n",
		intro, cfg.workers, cfg.rate, cfg.depth, count(cfg.n), cfg.p); err != nil {
		return err
	}
	c := newCrawler(cfg, seen)
	stop := c.showProgress(stderr)
	c.crawl(ctx)
	stop()
	return c.report(stdout)
}

func parseFlags(args []string, stderr io.Writer) (cfg config, err error) {
	fs := flag.NewFlagSet("crawler", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.workers, "workers", 8, "fetch this `many` pages at the same time")
	fs.Float64Var(&cfg.rate, "rate", 5, "at most this many `requests` per second and host, 0 for no limit,\nwhich is what the built-in site gets")
	fs.IntVar(&cfg.depth, "depth", 8, "follow links up to this many `clicks` away from a start URL")
	fs.IntVar(&cfg.max, "max", 0, "stop after this many `requests`, 0 for no limit")
	fs.Uint64Var(&cfg.n, "n", 1_000_000, "make the filter for this many `URLs`")
	fs.Float64Var(&cfg.p, "p", 1e-6, "false-positive `rate` at n URLs: the share of pages that are never fetched")
	fs.BoolVar(&cfg.exact, "exact", false, "run an exact set beside the filter and report the differences")
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
		return cfg, fmt.Errorf("-workers %d -depth %d -max %d -rate %g: want at least one worker, and no negative number", cfg.workers, cfg.depth, cfg.max, cfg.rate)
	}
	if len(cfg.starts) == 0 {
		cfg.rate = 0
	}
	_, err = bloom.NewScheme(cfg.n, cfg.p)
	return cfg, err
}
