// Crawler is a small concurrent web crawler whose only memory of the URLs it has
// seen is a Bloom filter:
//
//	if filter.AddString(url) {
//		frontier.push(url) // definitely new, and no other worker was told so
//	}
//
// That is one call for "have we seen this?" and "now we have", from as many
// workers as there are, without a lock. A false positive is a page that is never
// fetched, which is why p is 1e-6 by default; a page can't be fetched twice.
//
// It stays on the hosts of the start URLs, obeys robots.txt and rel=nofollow, and
// keeps to a rate per host. Without a URL it crawls a site of its own, served
// over loopback, that has what makes a seen set necessary: many links to few
// pages, spelled in many ways, and a calendar that never ends.
//
// Usage:
//
//	crawler [flags] [start URL ...]
//
// With -state the crawl is kept in a folder, the filter as a memory-mapped file, and
// goes on where it was after it was killed: a page that was being fetched then is
// fetched once more, and no other. A folder is for one crawler at a time, and a second
// one is refused.
//
// With -exact an exact set runs beside the filter and every difference is
// reported.
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
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/seed3447c163/bloom"
)

const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once the first Ctrl-C is noted, a second one kills as usual.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the command line says.
type config struct {
	workers int
	rate    float64
	depth   int
	max     int
	timeout time.Duration
	maxBody int64
	n       uint64
	p       float64
	exact   bool
	state   string
	starts  []target
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "crawler:", err)
		return exitUsage
	}
	if _, err := bloom.NewScheme(cfg.n, cfg.p); err != nil {
		fmt.Fprintf(stderr, "crawler: -n %d -p %g: %v\n", cfg.n, cfg.p, err)
		return exitUsage
	}
	if err := crawlAndReport(ctx, cfg, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "crawler:", err)
		return exitFail
	}
	return exitOK
}

// crawlAndReport starts the built-in site if it is needed, crawls, and writes the
// summary, whatever ended the crawl.
func crawlAndReport(ctx context.Context, cfg config, stdout, stderr io.Writer) (err error) {
	intro := "crawling " + joinTargets(cfg.starts)
	if len(cfg.starts) == 0 {
		site, err := startSite()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, site.close()) }()
		cfg.starts = []target{site.start}
		intro = fmt.Sprintf("no URL given: crawling a built-in site at %s (it takes %v to answer)", site.start, siteDelay)
	}
	if _, err := fmt.Fprintf(stdout, "%s\n%s\n", intro, cfg); err != nil {
		return err
	}

	c, err := startCrawler(cfg)
	if err != nil {
		return err
	}
	if c.state != nil {
		defer func() { err = errors.Join(err, c.state.close()) }()
	}
	stopProgress := startProgress(c, stderr)
	c.crawl(ctx)
	stopProgress()
	return c.report(stdout)
}

// startCrawler returns a crawler with a filter in memory or, with -state, in a file.
func startCrawler(cfg config) (*crawler, error) {
	if cfg.state == "" {
		filter, err := bloom.New(cfg.n, cfg.p)
		if err != nil {
			return nil, err
		}
		return newCrawler(cfg, filter), nil
	}
	state, err := openState(cfg)
	if err != nil {
		return nil, fmt.Errorf("-state: %w", err)
	}
	c := newCrawler(cfg, state.seen)
	c.state = state
	return c, nil
}

// String describes the limits of a crawl.
func (cfg config) String() string {
	rate := "any number of"
	if cfg.rate > 0 {
		rate = fmt.Sprintf("at most %g", cfg.rate)
	}
	return fmt.Sprintf("%d workers, %s requests/s per host, depth %d, filter for %s URLs at p = %g",
		cfg.workers, rate, cfg.depth, count(cfg.n), cfg.p)
}

func joinTargets(ts []target) string {
	var s []string
	for _, t := range ts {
		s = append(s, t.String())
	}
	return strings.Join(s, ", ")
}

// defaultRate is a request every 200 ms: no burden to a site that people use.
const defaultRate = 5

func parseFlags(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flag.NewFlagSet("crawler", flag.ContinueOnError)
	fs.IntVar(&cfg.workers, "workers", 8, "fetch this `many` pages at the same time")
	fs.Float64Var(&cfg.rate, "rate", defaultRate, "at most this many `requests` per second and host, 0 for no limit,\nwhich is what the built-in site gets by itself")
	fs.IntVar(&cfg.depth, "depth", 8, "follow links up to this many `clicks` away from a start URL")
	fs.IntVar(&cfg.max, "max", 0, "stop after this many `requests`, 0 for no limit")
	fs.DurationVar(&cfg.timeout, "timeout", 10*time.Second, "give up on a request after this `duration`")
	fs.Int64Var(&cfg.maxBody, "maxbody", 4<<20, "read at most this many `bytes` of a page")
	fs.Uint64Var(&cfg.n, "n", 1_000_000, "make the filter for this many `URLs`")
	fs.Float64Var(&cfg.p, "p", 1e-6, "false-positive `rate` at n URLs: the share of pages that are never fetched")
	fs.BoolVar(&cfg.exact, "exact", false, "run an exact set beside the filter and report the differences")
	fs.StringVar(&cfg.state, "state", "", "keep the crawl in this `folder`: a crawl that was killed or interrupted\ngoes on when it is run again with the same flags and URLs; one crawler at a time")
	// Parse would print every error with all the flags; run prints it in a line.
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(stderr)
			fmt.Fprint(stderr, "usage: crawler [flags] [start URL ...]\nWithout a URL it crawls a built-in site.\n\n")
			fs.PrintDefaults()
		}
		return cfg, err
	}
	if err := cfg.validate(); err != nil {
		return cfg, err
	}
	for _, arg := range fs.Args() {
		t, err := resolve(&url.URL{}, arg)
		if err != nil {
			return cfg, fmt.Errorf("start URL %q: %w", arg, err)
		}
		cfg.starts = append(cfg.starts, t)
	}

	if cfg.state != "" && len(cfg.starts) == 0 {
		return cfg, errors.New("-state without a URL: the built-in site has another address in every run")
	}

	rateGiven := false
	fs.Visit(func(f *flag.Flag) { rateGiven = rateGiven || f.Name == "rate" })
	if len(cfg.starts) == 0 && !rateGiven {
		cfg.rate = 0
	}
	return cfg, nil
}

// validate rejects what would make a crawl meaningless. The filter's own
// parameters are checked by bloom.New.
func (cfg config) validate() error {
	switch {
	case cfg.workers < 1:
		return fmt.Errorf("-workers %d, want at least 1", cfg.workers)
	case !(cfg.rate >= 0):
		return fmt.Errorf("-rate %g, want a number of requests per second, or 0 for no limit", cfg.rate)
	case cfg.depth < 0:
		return fmt.Errorf("-depth %d, want 0 or more", cfg.depth)
	case cfg.max < 0:
		return fmt.Errorf("-max %d, want a number of requests, or 0 for no limit", cfg.max)
	case cfg.timeout <= 0:
		return fmt.Errorf("-timeout %v, want more than 0", cfg.timeout)
	case cfg.exact && cfg.state != "":
		return errors.New("-exact with -state: the exact set is not kept")
	case cfg.maxBody < 1:
		return fmt.Errorf("-maxbody %d, want at least 1", cfg.maxBody)
	}
	return nil
}
