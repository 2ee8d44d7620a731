package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/rpc"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/seed3447c163/bloom/redisfilter"
)

// openSeen makes or joins the filter of the URLs that were seen. All processes name the same
// parameters, or get an error. A false positive is a page that is never fetched, hence the small p.
// With -replicas 1, an add is answered when a replica has it, so that a failover does not forget it. A filter of this
// size would be one key; six shards are on all nodes.
func openSeen(ctx context.Context, cfg config) (redis.UniversalClient, *redisfilter.Filter, error) {
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: strings.Split(cfg.redis, ",")})
	seen, err := redisfilter.Open(ctx, client, cfg.filter, 100_000, 1e-6,
		redisfilter.WithShards(6), redisfilter.WithWait(cfg.replicas, time.Second))
	if err != nil {
		client.Close()
	}
	return client, seen, err
}

// work is what each process does: eight goroutines take pages from the frontier until all are
// done.
func work(ctx context.Context, cfg config, stdout io.Writer) error {
	logging.Disable() // the client's, of each connection that is refused
	client, seen, err := openSeen(ctx, cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	frontier, err := rpc.Dial("tcp", cfg.frontier)
	if err != nil {
		return err
	}
	defer frontier.Close()
	w := worker{seen: seen, frontier: frontier}
	const goroutines = 8
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() { errs[i] = w.run(ctx) })
	}
	all.Wait()
	// A loss shows in the next call for the shard. Stats makes one for each.
	var r Report
	if _, err := seen.Stats(ctx); errors.Is(err, redisfilter.ErrLost) {
		r.Unsure = w.won
	} else if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "process %d: %d pages, %d links, %d of them new to all processes; %v parts of the filter lost\n",
		os.Getpid(), w.pages, w.links, len(w.won), seen.Metrics()["redis_lost"])
	return errors.Join(errors.Join(errs...), frontier.Call("Frontier.Next", r, new(string)))
}

type worker struct {
	seen     *redisfilter.Filter
	frontier *rpc.Client

	mu           sync.Mutex
	pages, links int
	won          []string // the links that this process was the first to add
}

func (w *worker) run(ctx context.Context) error {
	var r Report
	for {
		var page string
		if err := w.frontier.Call("Frontier.Next", r, &page); err != nil || page == "" {
			return err
		}
		links, err := fetch(ctx, page)
		if err != nil {
			return err
		}
		r = Report{Page: page}
		if err := w.add(ctx, links, &r); err != nil {
			return err
		}
		w.mu.Lock()
		w.pages++
		w.links += len(links)
		w.mu.Unlock()
	}
}

// add adds the links of a page, and reports those that no process has added before.
func (w *worker) add(ctx context.Context, links []string, r *Report) error {
	added := make([]bool, len(links))
	_, err := w.seen.AddAll(ctx, bytesOf(links), added)
	failed := &redisfilter.AddError{}
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	for _, i := range failed.Unknown {
		// The reply was lost, and no process knows whether this link was new. Skipping it might lose it;
		// fetching it might fetch it twice.
		added[i] = true
		r.Unsure = append(r.Unsure, links[i])
	}
	for _, i := range failed.Unconfirmed {
		// The replica does not have it. If the node fails now, it is forgotten.
		if added[i] {
			r.Unsure = append(r.Unsure, links[i])
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, yes := range added {
		if yes {
			r.New = append(r.New, links[i])
			w.won = append(w.won, links[i])
		}
	}
	if errors.Is(err, redisfilter.ErrLost) {
		// A shard is older than what it had confirmed to this process. Any of these links may be
		// forgotten.
		r.Unsure = append(r.Unsure, w.won...)
	}
	if len(failed.NotAdded) > 0 {
		return err
	}
	return nil
}

func bytesOf(links []string) [][]byte {
	keys := make([][]byte, len(links))
	for i, link := range links {
		keys[i] = []byte(link)
	}
	return keys
}

// fetch returns the links on a page: here, its lines.
func fetch(ctx context.Context, url string) ([]string, error) {
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
	var links []string
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		links = append(links, lines.Text())
	}
	return links, lines.Err()
}
