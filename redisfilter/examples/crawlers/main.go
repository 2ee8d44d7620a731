// Crawlers runs several crawlers that share one filter in a Redis Cluster and divide the work:
//
//	count, err := seen.AddMany(ctx, links, added)
//
// sets added[i] if links[i] is new to all crawlers. If several crawlers add the same new link, only one of them gets
// true. crawler.go has the part for each machine, with the handling of errors.
//
// The program starts a small site and the crawlers, and gives each crawler pages to fetch. At the end it counts how
// often each page was fetched. Each must have been fetched exactly once, or a crawler must have reported that it may
// not have been. This holds even if nodes fail and cluster slots move during the crawl, as in the program's test.
//
// It needs a Redis server or a cluster. The exit status is 1 if a page was not fetched exactly once and no crawler has
// reported it, and after other failures.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

func main() {
	addrs := flag.String("redis", "localhost:6379", "keep the filter at these `addresses`: a server, or nodes of a cluster")
	replicas := flag.Int("replicas", 0, "let so `many` replicas confirm each link")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	logging.Disable() // go-redis would log each connection that is refused
	if err := crawl(ctx, *addrs, "crawl:"+rand.Text(), *replicas, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// crawl starts the site and the crawlers, gives them the pages of one level after the other, and counts the fetches. At
// the end it deletes the filter.
func crawl(ctx context.Context, addrs, filter string, replicas int, out io.Writer) error {
	const pages = 5000
	const goroutines = 8                        // of each crawler
	ctx, cancel := context.WithCancelCause(ctx) // a failure ends all crawlers
	defer cancel(nil)
	site := startSite(pages)
	defer site.server.Close()
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: strings.Split(addrs, ",")})
	defer client.Close()
	var crawlers [3]*crawler
	for i := range crawlers {
		var err error
		if crawlers[i], err = newCrawler(ctx, client, filter, replicas); err != nil {
			return err
		}
	}
	seen := crawlers[0].seen
	defer seen.Delete(context.WithoutCancel(ctx))
	if _, err := seen.Add(ctx, []byte(site.url(0))); err != nil {
		return err
	}
	// The pages to fetch are in memory, so a failure of Redis does not lose them.
	for level := []string{site.url(0)}; len(level) > 0; {
		var all sync.WaitGroup
		slots := make(chan struct{}, len(crawlers)*goroutines)
		for i, page := range level {
			slots <- struct{}{}
			all.Add(1)
			go func() {
				defer all.Done()
				if err := crawlers[i%len(crawlers)].fetch(ctx, page); err != nil {
					cancel(err)
				}
				<-slots
			}()
		}
		all.Wait()
		if err := context.Cause(ctx); err != nil {
			return err
		}
		level = nil
		for _, c := range crawlers {
			level = append(level, c.next...)
			c.next = nil
		}
	}
	unsure := map[string]bool{}
	for i, c := range crawlers {
		if err := c.finish(ctx); err != nil {
			return err
		}
		for _, page := range c.unsure {
			unsure[page] = true
		}
		fmt.Fprintf(out, "crawler %d: %d links new to all crawlers; %v parts of the filter lost\n",
			i, len(c.won), c.seen.Metrics()["redis_lost"])
	}
	once, reported, silent := site.count(unsure)
	fmt.Fprintf(out, "pages fetched once: %d, not once but reported: %d of %d, not once and not reported: %d\n",
		once, reported, len(unsure), silent)
	if silent > 0 {
		return errors.New("some pages were not fetched exactly once, and no crawler has reported it")
	}
	return nil
}
