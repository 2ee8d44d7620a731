// Crawler is a concurrent web crawler. A Bloom filter is its only memory of the URLs it has seen:
//
//	if seen.AddString(url) {
//		queue = append(queue, url) // new, and no other worker gets true
//	}
//
// One call looks up and adds, from any number of workers, without a lock. A page whose URL is a false positive is never
// fetched, so the rate is 1e-6. Web pages choose the keys, so the hash is MapHash, whose seed is random and secret.
//
// The crawler stays on the hosts of the start URLs, obeys robots.txt and rel=nofollow, and limits its rate per host.
// Each second it prints the number of fetched pages. If a site does not answer or is busy, it tries again after a
// pause. With -queue it can be stopped or killed: the same command then continues the crawl, no page is lost, and pages
// with temporary errors are tried again. Without a URL it crawls a built-in site, which it serves on the loopback
// interface.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"time"
)

// site is a small encyclopaedia of data structures.
//
//go:embed site
var site embed.FS

func main() {
	depth := flag.Uint("depth", 8, "follow links up to this many `clicks` away from a start URL")
	delay := flag.Duration("delay", 200*time.Millisecond, "least `time` between two requests to a host; the built-in site has none")
	n := flag.Uint64("n", 1_000_000, "planned `number` of URLs")
	queue := flag.String("queue", "", "`file` that keeps the queue, so that the same command can go on with the crawl")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	starts := flag.Args()
	builtIn := len(starts) == 0
	if builtIn {
		if *queue != "" {
			log.Fatal("-queue without a URL, want one: the built-in site has another address each time")
		}
		server := httptest.NewServer(siteHandler())
		defer server.Close()
		starts, *delay = []string{server.URL}, 0
		fmt.Println("Crawling a built-in example site. One of its links leads to no page.")
	}
	c, err := newCrawler(*n, *depth, *delay)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Crawling", strings.Join(starts, " "))
	second := time.NewTicker(time.Second)
	go func() {
		for range second.C {
			log.Print(c.progress())
		}
	}()
	err = c.crawl(ctx, *queue, starts...)
	second.Stop()
	if err != nil {
		log.Fatal(err)
	}
	did := "Done"
	if ctx.Err() != nil || c.waiting() > 0 {
		did = "Stopped"
	}
	fmt.Print(did, ": ", c.summary(), "\n")
	switch {
	case *queue == "" && ctx.Err() != nil:
		fmt.Println("With -queue FILE, a stopped crawl can go on later.")
	case *queue != "" && c.waiting() > 0:
		fmt.Printf("%d pages wait in %s. The same command goes on.\n", c.waiting(), *queue)
		os.Exit(1)
	}
	if builtIn {
		fmt.Println("Next: go run ./examples/crawler -queue site.queue https://example.org/ # a site of yours")
	}
}

func siteHandler() http.Handler {
	files, err := fs.Sub(site, "site")
	if err != nil {
		panic(err)
	}
	return http.FileServerFS(files)
}
