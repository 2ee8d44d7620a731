// Crawlers is several crawlers that share one filter in a Redis Cluster and divide the work:
//
//	count, err := seen.AddAll(ctx, links, added)
//
// tells each crawler which links of a page no crawler has seen before, and tells
// it only to that crawler. crawler.go has what each machine would run, also about errors.
//
// The program starts the crawlers, a small site to crawl, and the frontier, from which the crawlers take their next
// page. In the end it counts how often each page was fetched. It must be once, or a crawler has reported that it may not
// be, also if nodes fail and cluster slots move during the crawl, as in the program's test.
//
// Usage:
//
//	crawlers [-crawlers n] [-pages n] [-redis host:port,...] [-replicas n]
//
// The exit status is 0 if every page was fetched exactly once or reported, 1 if not or if
// something failed, 2 for a bad flag. It needs a Redis server or a cluster.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// config is what the command line says.
type config struct {
	crawlers, pages, replicas int
	redis, filter             string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	logging.Disable() // the client's, of each connection that is refused
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg config
	fs := flag.NewFlagSet("crawlers", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.crawlers, "crawlers", 3, "crawl with this `many` crawlers")
	fs.IntVar(&cfg.pages, "pages", 5000, "make a site of this `many` pages")
	fs.StringVar(&cfg.redis, "redis", "localhost:6379", "keep the filter at these `addresses`: a server, or nodes of a cluster")
	fs.IntVar(&cfg.replicas, "replicas", 0, "let so `many` replicas confirm each link")
	fs.StringVar(&cfg.filter, "filter", "crawl:"+rand.Text(), "`name` of the filter, which is deleted in the end")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if cfg.crawlers < 1 || cfg.pages < 1 {
		fmt.Fprintf(stderr, "crawlers: -crawlers %d -pages %d, want at least 1\n", cfg.crawlers, cfg.pages)
		return 2
	}
	if err := crawl(ctx, cfg, stdout); err != nil {
		fmt.Fprintln(stderr, "crawlers:", err)
		return 1
	}
	return 0
}

// crawl starts everything, waits for the crawlers, and counts.
func crawl(ctx context.Context, cfg config, stdout io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx) // any failure ends all
	defer cancel(nil)
	site := startSite(cfg.pages)
	defer site.server.Close()
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: strings.Split(cfg.redis, ",")})
	defer client.Close()
	frontier, crawlers := newFrontier(site.url(0)), make([]*crawler, cfg.crawlers)
	for i := range crawlers {
		var err error
		if crawlers[i], err = newCrawler(ctx, client, cfg, frontier); err != nil {
			return err
		}
	}
	seen := crawlers[0].seen
	defer seen.Delete(context.WithoutCancel(ctx))
	if _, err := seen.Add(ctx, []byte(site.url(0))); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d crawlers crawl %d pages at %s; the filter is %q at %s\n", cfg.crawlers, cfg.pages, site.url(0),
		cfg.filter, cfg.redis)
	var all sync.WaitGroup
	for _, c := range crawlers {
		all.Go(func() {
			if err := c.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for i, c := range crawlers {
		fmt.Fprintf(stdout, "crawler %d: %d pages, %d links, %d of them new to all crawlers; %v parts of the filter lost\n",
			i, c.pages, c.links, len(c.won), c.seen.Metrics()["redis_lost"])
	}
	once, reported, silent := site.count(frontier.unsure)
	fmt.Fprintf(stdout, "pages fetched once: %d, not once but reported: %d, not once and not reported: %d\n", once, reported, silent)
	fmt.Fprintf(stdout, "pages of which a crawler has reported that another might fetch them again: %d\n", len(frontier.unsure))
	if silent > 0 {
		return errors.New("some pages were not fetched exactly once, and no crawler has reported it")
	}
	return nil
}
