// Crawlers is a crawler of several processes that share one filter in a Redis Cluster and
// divide the work:
//
//	count, err := seen.AddMany(ctx, links, added)
//
// tells each process which of the links on a page nobody has seen before, and tells
// it only to that process. worker.go has what each process does, also about errors.
//
// The program starts the processes, a small site to crawl, and the frontier, from which the processes take their next
// page. In the end it counts how often each page was fetched. It must be once, or a process has reported that it may not
// be, also if nodes fail and cluster slots move meanwhile, as in the program's test.
//
// Usage:
//
//	crawlers [-processes n] [-pages n] [-redis host:port,...] [-replicas n]
//
// The exit status is 0 if every page was fetched exactly once or reported, 1 if not or if
// something failed, 2 for a bad flag. It needs a Redis server or a cluster.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"
)

// config is what the command line says.
type config struct {
	processes, pages, replicas int
	redis, filter, frontier    string
}

// patience is how long all of it may take, on a machine that is busy.
const patience = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg config
	fs := flag.NewFlagSet("crawlers", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.processes, "processes", 3, "crawl with this `many` processes")
	fs.IntVar(&cfg.pages, "pages", 5000, "make a site of this `many` pages")
	fs.StringVar(&cfg.frontier, "worker", "", "be one of the processes, with the frontier at this `address` (used by the program itself)")
	fs.StringVar(&cfg.redis, "redis", "localhost:6379", "keep the filter at these `addresses`: a server, or nodes of a cluster")
	fs.IntVar(&cfg.replicas, "replicas", 0, "let so `many` replicas confirm each link")
	fs.StringVar(&cfg.filter, "filter", "crawl:"+rand.Text(), "`name` of the filter, which is deleted in the end")
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	if cfg.frontier != "" {
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
	ctx, cancel := context.WithCancelCause(ctx) // whatever fails ends all
	defer cancel(nil)
	site, err := startSite(cfg.pages)
	if err != nil {
		return err
	}
	defer site.close()
	client, seen, err := openSeen(ctx, cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	defer seen.Delete(context.WithoutCancel(ctx))
	if _, err := seen.Add(ctx, []byte(site.url(0))); err != nil {
		return err
	}
	frontier := newFrontier(site.url(0))
	calls, err := frontier.listen()
	if err != nil {
		return err
	}
	defer calls.Close()

	fmt.Fprintf(stdout, "%d processes crawl %d pages at %s; the filter is %q at %s\n", cfg.processes, cfg.pages, site.url(0),
		cfg.filter, cfg.redis)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	said := make([]bytes.Buffer, cfg.processes)
	var all sync.WaitGroup
	for i := range cfg.processes {
		cmd := exec.CommandContext(ctx, program, "-worker", calls.Addr().String(), "-redis", cfg.redis,
			"-replicas", fmt.Sprint(cfg.replicas), "-filter", cfg.filter)
		cmd.Stdout, cmd.Stderr = &said[i], &said[i]
		all.Go(func() {
			if err := cmd.Run(); err != nil {
				cancel(fmt.Errorf("a process: %w", err))
			}
		})
	}
	all.Wait()
	for i := range said {
		if _, err := said[i].WriteTo(stdout); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	once, reported, silent := site.count(frontier.unsure)
	fmt.Fprintf(stdout, "pages fetched once: %d, not once but reported: %d, not once and not reported: %d\n", once, reported, silent)
	fmt.Fprintf(stdout, "pages of which a process has reported that another might fetch them again: %d\n", len(frontier.unsure))
	if silent > 0 {
		return errors.New("some pages were not fetched exactly once, and nobody has said so")
	}
	return nil
}
