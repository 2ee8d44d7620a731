package redisfilter_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var pages = flag.Int("pages", 600, "let TestShortestLoop fetch so `many` different pages")

// A fetcher counts how often the shortest loop has fetched a page: all times, and those after an answer true that was
// neither listed as unsure nor came with a loss.
type fetcher struct {
	mu           sync.Mutex
	all, certain map[string]int
}

// crawl is the loop that everybody writes first: it acts on the answers, and then returns the error.
func (f *fetcher) crawl(ctx context.Context, seen *filter, links [][]byte, single bool) error {
	added := make([]bool, len(links))
	var err error
	if single {
		added[0], err = seen.Add(ctx, links[0])
	} else {
		_, err = seen.AddMany(ctx, links, added)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, isNew := range added {
		if isNew {
			f.all[string(links[i])]++
			if !slices.Contains(redisfilter.UnsureOf(err), i) && !errors.Is(err, redisfilter.ErrLost) {
				f.certain[string(links[i])]++
			}
		}
	}
	return err
}

// TestShortestLoop: crawlers with the shortest loop find the same pages while replies are cut, contexts end early, and
// the server, which syncs each write, is killed and started, or flushed. Each page is fetched; twice only if somebody
// was told.
func TestShortestLoop(t *testing.T) {
	for _, flush := range []bool{false, true} {
		for _, k := range kinds[:3] {
			t.Run(k.name+map[bool]string{false: "/kills", true: "/flush"}[flush], func(t *testing.T) {
				t.Parallel()
				s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
				p := redistest.StartProxy(t, s.Addr)
				p.CutEvery.Store(23) // a new connection of go-redis 9.23 takes several replies
				f := &fetcher{all: map[string]int{}, certain: map[string]int{}}
				var crawlers, disturber redistest.Group
				done := make(chan struct{})
				disturber.Go(func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(150 * time.Millisecond):
						}
						if flush {
							s.Client.FlushAll(bg)
						} else {
							s.Kill()
							s.Start(t)
						}
					}
				})
				links := keysOf(0, *pages)
				for i := range 6 {
					seen := k.open(t, s.Client)
					if i > 0 { // the last one has no proxy
						seen = k.open(t, client(t, p.Addr, nil))
					}
					crawlers.Go(func() {
						random := rand.New(rand.NewPCG(1, uint64(i)))
						for _, first := range random.Perm(*pages) {
							some, single := links[first:min(first+1+random.IntN(5), *pages)], random.IntN(2) == 0
							if single {
								some = some[:1]
							}
							for again := true; again; {
								ctx, cancel := context.WithTimeout(bg, time.Duration(1+random.IntN(20))*time.Millisecond)
								err := f.crawl(ctx, seen, some, single)
								cancel()
								again = err != nil && !errors.Is(err, redisfilter.ErrRefused)
								assert.NotErrorIs(t, err, redisfilter.ErrRefused)
							}
						}
					})
				}
				crawlers.Wait()
				close(done)
				disturber.Wait()
				doubts := 0
				for _, link := range links {
					require.Positive(t, f.all[string(link)], "%s was never fetched", link)
					require.True(t, flush || f.certain[string(link)] <= 1, "%s was fetched twice without an error", link)
					doubts += f.all[string(link)] - f.certain[string(link)]
				}
				t.Logf("%d pages, %d fetches after doubtful answers", *pages, doubts)
			})
		}
	}
}
