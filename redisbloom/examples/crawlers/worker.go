package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisbloom"
)

// openSeen makes or joins the filter of the URLs that were seen. All processes
// name the same parameters, and are told if they do not. A false positive is a
// page that is never fetched, hence the small p.
func openSeen(ctx context.Context, client redis.UniversalClient) (*redisbloom.Filter, error) {
	return redisbloom.Open(ctx, client, "crawl:seen", 100_000, 1e-9, redisbloom.WithTTL(time.Hour))
}

// work is what each process does: eight goroutines take pages from the queue until
// nobody has any left.
func work(ctx context.Context, cfg config, stdout io.Writer) error {
	client := redis.NewClient(&redis.Options{Addr: cfg.redis})
	defer client.Close()
	seen, err := openSeen(ctx, client)
	if err != nil {
		return err
	}
	w := worker{seen: seen, queue: queue{client}}
	const goroutines = 8
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() { errs[i] = w.run(ctx) })
	}
	all.Wait()
	fmt.Fprintf(stdout, "process %d: %d pages, %d links, %d of them new to all processes\n", os.Getpid(), w.pages.Load(), w.links.Load(), w.new.Load())
	return errors.Join(errs...)
}

type worker struct {
	seen              redisbloom.Set
	queue             queue
	pages, links, new atomic.Int64
}

func (w *worker) run(ctx context.Context) error {
	for {
		url, more, err := w.queue.pop(ctx)
		switch {
		case err != nil:
			return err
		case !more:
			return nil
		case url == "": // none at the moment
			continue
		}
		links, err := fetch(ctx, url)
		if err != nil {
			return err
		}
		w.pages.Add(1)
		w.links.Add(int64(len(links)))
		fresh, err := w.fresh(ctx, links)
		if err != nil {
			return err
		}
		w.new.Add(int64(len(fresh)))
		if err := w.queue.push(ctx, fresh...); err != nil {
			return err
		}
		if err := w.queue.done(ctx); err != nil {
			return err
		}
	}
}

// fresh returns those links that this process is the one to fetch.
func (w *worker) fresh(ctx context.Context, links [][]byte) ([]string, error) {
	added := make([]bool, len(links))
	_, err := w.seen.AddMany(ctx, links, added)
	if failed, ok := errors.AsType[*redisbloom.AddError](err); ok && errors.Is(err, redisbloom.ErrUnknown) && ctx.Err() == nil {
		// Nobody knows whether these were new. To skip them might lose them for ever;
		// to fetch them might do so twice.
		for _, i := range failed.Unknown {
			added[i] = true
		}
		err = nil
		if len(failed.NotAdded) > 0 {
			err = failed
		}
	}
	var fresh []string
	for i, yes := range added {
		if yes {
			fresh = append(fresh, string(links[i]))
		}
	}
	return fresh, err
}

// fetch returns the links on a page: here, its lines.
func fetch(ctx context.Context, url string) ([][]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	var links [][]byte
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		links = append(links, []byte(lines.Text()))
	}
	return links, lines.Err()
}
