// Crawlers is a crawler of several processes that share one filter in Redis and
// divide the work:
//
//	count, err := seen.AddMany(ctx, links, added)
//
// tells each process which of the links on a page nobody has seen before, and tells
// it only to that process. Those links go to a queue in Redis, from which all
// processes take their next page.
//
// It starts a small site of its own, the processes, and, unless told of one, a
// redis-server; and in the end it counts how often each page was fetched. It must be
// once.
//
// Usage:
//
//	crawlers [-processes n] [-pages n] [-redis host:port]
//
// The exit status is 0 if every page was fetched exactly once, 1 if not or if
// something failed, 2 for a bad flag.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"github.com/redis/go-redis/v9"
)

// config is what the command line says.
type config struct {
	processes int
	pages     int
	redis     string
	start     string // of a worker: the URL to start at
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg config
	fs := flag.NewFlagSet("crawlers", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.processes, "processes", 2, "crawl with this `many` processes")
	fs.IntVar(&cfg.pages, "pages", 2000, "make a site of this `many` pages")
	fs.StringVar(&cfg.redis, "redis", "", "`address` of a Redis server; without it, one is started")
	fs.StringVar(&cfg.start, "worker", "", "be one of the processes, and start at this `URL` (used by the program itself)")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if cfg.processes < 1 || cfg.pages < 1 {
		fmt.Fprintf(stderr, "crawlers: -processes %d -pages %d, want at least 1\n", cfg.processes, cfg.pages)
		return 2
	}
	var err error
	if cfg.start != "" {
		err = work(ctx, cfg, stdout)
	} else {
		err = lead(ctx, cfg, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "crawlers:", err)
		return 1
	}
	return 0
}

// lead starts everything, waits for the processes, and counts.
func lead(ctx context.Context, cfg config, stdout io.Writer) error {
	if cfg.redis == "" {
		server, err := startRedis()
		if err != nil {
			return err
		}
		defer server.stop()
		cfg.redis = server.addr
	}
	site, err := startSite(cfg.pages)
	if err != nil {
		return err
	}
	defer site.close()
	client := redis.NewClient(&redis.Options{Addr: cfg.redis})
	defer client.Close()
	q := queue{client}
	if err := q.clear(ctx); err != nil {
		return err
	}
	seen, err := openSeen(ctx, client)
	if err != nil {
		return err
	}
	defer seen.Delete(context.WithoutCancel(ctx))
	if _, err := seen.Add(ctx, []byte(site.start())); err != nil {
		return err
	}
	if err := q.push(ctx, site.start()); err != nil {
		return err
	}

	program, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d processes crawl %d pages at %s; the filter is in Redis at %s\n", cfg.processes, cfg.pages, site.start(), cfg.redis)
	errs := make([]error, cfg.processes)
	said := make([]bytes.Buffer, cfg.processes)
	var all sync.WaitGroup
	for i := range cfg.processes {
		cmd := exec.CommandContext(ctx, program, "-worker", site.start(), "-redis", cfg.redis)
		cmd.Stdout, cmd.Stderr = &said[i], &said[i]
		all.Go(func() { errs[i] = cmd.Run() })
	}
	all.Wait()
	for i := range said {
		if _, err := said[i].WriteTo(stdout); err != nil {
			return err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	once, twice, never := site.count()
	fmt.Fprintf(stdout, "pages fetched once: %d, more than once: %d, never: %d\n", once, twice, never)
	if twice+never > 0 {
		return errors.New("some pages were not fetched exactly once")
	}
	return nil
}
