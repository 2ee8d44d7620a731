// Crawler crawls web sites. A Bloom filter tells whether a link is new:
//
//	if seen.AddString(link) {
//		next = append(next, link) // new, and no other goroutine gets true
//	}
//
// crawl.go works level by level, with one goroutine per host: fetch.go gets a page and finds its links, follow passes
// them through the filter, and finish writes the page and its new links as one line of the queue file (queue.go). Only
// then are the links queued. The queue must be as durable as the filter: a link that the filter has and the queue has
// lost is never fetched. So there is one file, from which the filter is built again. A page whose URL is a false
// positive is never fetched, so p is 1e-6. Web pages choose the keys, so the hash is MapHash: its seed is secret.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// site is a small encyclopaedia of data structures. The program crawls it if it gets no URL.
//
//go:embed site
var site embed.FS

func main() {
	depth := flag.Uint("depth", 8, "follow links up to this many `clicks` away from a start URL")
	delay := flag.Duration("delay", time.Second, "least `time` between two requests to a host; a longer Crawl-delay in robots.txt counts")
	n := flag.Uint64("n", 1_000_000, "planned `number` of URLs")
	path := flag.String("queue", "", "`file` that keeps the queue, so that the same command can go on with the crawl")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	if left, err := run(ctx, *path, *n, *depth, *delay, flag.Args()); err != nil {
		log.Fatal(err)
	} else if left > 0 {
		fmt.Println("With -queue FILE, the same command goes on.")
		os.Exit(1)
	}
}

// run crawls and prints a summary. It returns the number of pages that wait for another run with the same queue file.
func run(ctx context.Context, path string, n uint64, depth uint, delay time.Duration, starts []string) (int, error) {
	if len(starts) == 0 {
		files, err := fs.Sub(site, "site")
		if err != nil || path != "" {
			return 0, errors.Join(err, errors.New("-queue without a URL, want one: the built-in site has another address each time"))
		}
		server := httptest.NewServer(http.FileServerFS(files))
		defer server.Close()
		starts, delay = []string{server.URL}, 0
		fmt.Println("Crawling a built-in example site. One of its links leads to no page.")
		defer fmt.Println("Next: go run ./examples/crawler -queue site.queue https://example.org/ # a site of yours")
	}
	if path == "" {
		dir, err := os.MkdirTemp("", "crawler")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "queue")
	}
	c, err := newCrawler(path, n, depth, delay, starts)
	if err != nil {
		return 0, err
	}
	defer c.close()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	go func() {
		for range second.C {
			log.Print(c.progress())
		}
	}()
	err = c.crawl(ctx)
	fmt.Println(c.summary())
	if err == nil && c.pages[fetched]+c.pages[partly]+c.pages[waiting] == 0 {
		err = errors.New("nothing was fetched: all start pages failed, or robots.txt forbids them")
	}
	return c.pages[waiting], err
}
