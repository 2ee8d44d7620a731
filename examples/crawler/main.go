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
// its rate per host. Without a URL it serves a site of its own on the loopback interface.
//
// The exit status is 0, also after Ctrl-C; 1 if nothing could be fetched; 2 for a bad flag or URL.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/time/rate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("crawler", flag.ContinueOnError)
	flags.SetOutput(stderr)
	depth := flags.Int("depth", 8, "follow links up to this many `clicks` away from a start URL")
	perSecond := flags.Float64("rate", 5, "most `requests` per second and host; the built-in site has no limit")
	n := flags.Uint64("n", 1_000_000, "planned `number` of URLs")
	if err := flags.Parse(args); err == flag.ErrHelp {
		return 0
	} else if err != nil {
		return 2
	}
	c, err := newCrawler(*n, *depth, *perSecond, stderr)
	if err == nil && (*depth < 0 || !(*perSecond > 0)) {
		err = fmt.Errorf("-depth %d -rate %g, want a depth of 0 or more and a rate above 0", *depth, *perSecond)
	}
	var starts []*url.URL
	for _, arg := range flags.Args() {
		u, bad := normalize(&url.URL{}, arg)
		if bad != nil {
			err = fmt.Errorf("start URL %q: %w", arg, bad)
		}
		starts = append(starts, u)
	}
	if err != nil {
		fmt.Fprintln(stderr, "crawler:", err)
		return 2
	}
	what := fmt.Sprint(starts)
	if len(starts) == 0 {
		site := httptest.NewServer(siteHandler())
		defer site.Close()
		u, _ := url.Parse(site.URL + "/")
		starts, c.limit = []*url.URL{u}, rate.Inf
		what = fmt.Sprintf("the built-in site %v, more than %s pages with one dead link", u, humanize.Comma(letters))
	}
	fmt.Fprintln(stdout, "crawling", what)
	began := time.Now()
	c.crawl(ctx, starts)
	ending := "done"
	if ctx.Err() != nil {
		ending = "interrupted"
	}
	fmt.Fprintf(stdout, "%s in %v\n\n", ending, time.Since(began).Round(time.Millisecond))
	c.report(stdout)
	if c.counts["fetched"] == 0 && ctx.Err() == nil {
		fmt.Fprintln(stderr, "crawler: nothing was fetched")
		return 1
	}
	return 0
}

func (c *crawler) report(w io.Writer) {
	for _, what := range []string{"fetched", "failed", "links", "new", "duplicate", "off-host", "too deep", "robots.txt", "unusable"} {
		fmt.Fprintf(w, "%10s %s\n", humanize.Comma(c.counts[what]), what)
	}
	s := c.seen.Stats()
	fmt.Fprintf(w, "\nfilter: %s for %s URLs, false-positive rate now %.2g\n",
		humanize.IBytes(s.SizeBytes), humanize.Comma(int64(s.N)), s.EstimatedFalsePositiveRate)
	if uint64(c.counts["new"]) > s.N {
		fmt.Fprintln(w, "The crawl has outgrown the filter: pages were skipped. Crawl again with a larger -n.")
	}
}
