package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A wood is a site whose pages have links to five others. Half of them fail at the first try, each in one of five ways.
type wood struct {
	pages int
	mu    sync.Mutex
	tries map[int]int
	times map[int]int // whole answers
	left  int         // answers until outage; then none
}

func (w *wood) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.URL.Path[1:])
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.left--; {
	case w.left < 0:
		panic(http.ErrAbortHandler)
	case err != nil:
		http.NotFound(answer, r)
		return
	}
	w.tries[i]++
	switch try := w.tries[i]; {
	case try == 1 && i%10 == 0:
		answer.Header().Set("Retry-After", "0")
		answer.WriteHeader(http.StatusTooManyRequests)
	case try == 1 && i%10 == 1:
		answer.WriteHeader(http.StatusServiceUnavailable)
	case try == 1 && i%10 == 2:
		answer.WriteHeader(http.StatusInternalServerError)
	case try == 1 && i%10 == 3:
		panic(http.ErrAbortHandler)
	case try == 1 && i%10 == 4:
		answer.Header().Set("Content-Length", "1000000") // the answer is cut
		links("/cut")(answer, r)
	default:
		w.times[i]++
		for _, link := range w.linksOf(i) {
			links(fmt.Sprint("/", link))(answer, r)
		}
	}
}

func (w *wood) linksOf(i int) []int {
	random := rand.New(rand.NewPCG(uint64(i), 0))
	all := []int{i, 0}
	for range 8 {
		all = append(all, random.IntN(w.pages))
	}
	return all
}

// TestKills kills a crawl again and again. In between, the site goes away until the crawl gives up. All pages are
// fetched that are near enough. Each is served once, but for those that the kills interrupt.
func TestKills(t *testing.T) {
	kills, outages := 20, 5
	w := &wood{pages: testkit.Times(1000, 3000, 3000), tries: map[int]int{}, times: map[int]int{}}
	s, path, random := serve(t, w), queueOf(t), rand.New(rand.NewPCG(1, 0))
	known, level := map[int]bool{0: true}, []int{0}
	for range 4 {
		var next []int
		for _, i := range level {
			for _, link := range w.linksOf(i) {
				if !known[link] {
					known[link] = true
					next = append(next, link)
				}
			}
		}
		level = next
	}
	left := func(n int) int { // sets the answers that are left, or returns them
		w.mu.Lock()
		defer w.mu.Unlock()
		if n > 0 {
			w.left = n
		}
		return w.left
	}
	for range outages {
		for range kills / outages {
			const many = 1 << 30
			left(many)
			p := child.Start(t, "crawl", path, s.URL+"/0")
			for until := many - 1 - random.IntN(2*len(known)/(kills+outages)); left(0) > until; time.Sleep(time.Millisecond / 10) {
			}
			require.NoError(t, p.Process.Kill())
			_ = p.Wait()
			for s.now.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
		}
		left(1 + random.IntN(len(known)/(kills+outages)))
		p := child.Start(t, "crawl", path, s.URL+"/0")
		require.Error(t, p.Wait())
		require.Contains(t, p.Errors(), "pages wait")
		require.Contains(t, p.Errors(), "left alone for this run: true")
	}
	left(1 << 30)
	for range 2 { // the second one finds nothing to do
		child.Start(t, "crawl", path, s.URL+"/0").Finish(t)
		require.Len(t, w.times, len(known))
	}
	again := 0
	for i, n := range w.times {
		require.True(t, known[i], i)
		again += n - 1
	}
	t.Logf("%d pages, %d kills, %d outages: %d pages fetched again", len(known), kills, outages, again)
	require.LessOrEqual(t, again, kills)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"result":"f`+"ailed")
}

// TestAway: pages wait for the next run if the host does not answer, or asks for a long pause.
func TestAway(t *testing.T) {
	for _, answer := range []func(w http.ResponseWriter){
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "3600"); w.WriteHeader(429) },
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "61"); w.WriteHeader(503) },
	} {
		var back atomic.Bool
		path := queueOf(t)
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !back.Load() && r.URL.Path != "/robots.txt" && r.URL.Path != "/":
				answer(w)
			case r.URL.Path == "/":
				links("/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "/10", "/11", "/12")(w, r)
			}
		}))
		run := func() (*crawler, error) { return crawl(t.Context(), path, 100, 1, s.URL) }
		c, err := run()
		require.NoError(t, err)
		require.Equal(t, "Pages: 1 fetched, 0 fetched in part, 0 forbidden by robots.txt, 0 failed, 12 waiting", c.progress())
		back.Store(true)
		c, err = run()
		require.NoError(t, err)
		require.Equal(t, 13, c.pages[fetched])
	}
}

// TestKinds: pages above 4 MiB, forbidden and failed pages have their words in the log and the summary.
func TestKinds(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := map[string]int{"/whole": maxBody, "/larger": maxBody + 1}[r.URL.Path]
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		case "/":
			links("/whole", "/larger", "/private", "/gone", "/deep")(w, r)
		case "/gone":
			http.NotFound(w, r)
		case "/deep":
			fmt.Fprint(w, strings.Repeat("<div>", 1000), "<a href=/deepest>")
		case "/whole", "/larger":
			link := fmt.Sprintf("<a href=%s/link></a>", r.URL.Path)
			fmt.Fprint(w, link, strings.Repeat(" ", size-len(link)))
		}
	}))
	path := queueOf(t)
	said := logged(func() {
		for range 2 {
			c, err := crawl(t.Context(), path, 100, 8, s.URL)
			require.NoError(t, err)
			require.Equal(t, "Pages: 4 fetched, 1 fetched in part, 1 forbidden by robots.txt, 2 failed, 0 waiting", c.progress())
		}
	})
	require.Equal(t, 4, strings.Count(said, "\n"), said)
	for _, line := range []string{"/larger: fetched in part: only the links in the first 4 MiB are followed", "/private: forbidden: robots.txt", "/gone: failed: 404 Not Found", "/deep: failed: html"} {
		require.Contains(t, said, line)
	}
}

// TestQueueRefuses: a queue file is not mixed with another crawl, used by two, or taken for one if it is none.
func TestQueueRefuses(t *testing.T) {
	s, path := serve(t, links("/1")), queueOf(t)
	try := func(path string, depth uint, starts ...string) error {
		_, err := crawl(t.Context(), path, 100, depth, starts...)
		return err
	}
	require.NoError(t, try(path, 8, s.URL))
	require.ErrorContains(t, try(path, 7, s.URL), "queue is the queue of another crawl")
	require.ErrorContains(t, try(path, 8, s.URL+"/x"), "is the queue of another crawl")
	require.Error(t, try(t.TempDir(), 8, s.URL))
	for _, start := range []string{"ftp://example.org/", "http://[::1", "example.org"} {
		require.ErrorContains(t, try(path, 8, start), start)
	}
	c, err := newCrawler(path, 100, 8, 0, []string{s.URL})
	require.NoError(t, err)
	require.ErrorContains(t, try(path, 8, s.URL), "queue.lock is locked by another crawler")
	c.close()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	whole := string(text)
	for damaged, want := range map[string]string{
		whole + "{\n":                            "line 4: ",
		whole + `{"url":"http://other/"}` + "\n": `line 4: "http://other/" is done, and no line before led to it`,
		whole[:strings.Index(whole, "\n")+1] + fmt.Sprintf(`{"url":"%s/","links":["x"]}`, s.URL) + "\n": `line 2: "x" is no page of this crawl`,
		"a note without a newline": "no queue", "\n": "no queue", whole[:10] + "\n": "no queue",
	} {
		require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
		require.ErrorContains(t, try(path, 8, s.URL), want)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, damaged, string(after))
	}
}

// TestStops: Ctrl-C ends a crawl while a server does not answer. A full disk ends it, and nothing is written after the
// line that is cut.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			cancel()
			<-r.Context().Done()
		}
		links("/hang")(w, r)
	}))
	c, err := crawl(ctx, queueOf(t), 100, 8, s.URL)
	require.NoError(t, err)
	require.Equal(t, 1, c.pages[waiting])
	c, err = newCrawler(queueOf(t), 100, 8, 0, []string{s.URL})
	require.NoError(t, err)
	c.close()
	require.ErrorIs(t, c.crawl(t.Context()), os.ErrClosed)
	c.file, err = os.Create(queueOf(t)) // there is room again
	require.NoError(t, err)
	require.ErrorIs(t, c.finish(page{}, nil), os.ErrClosed)
	require.NoError(t, c.file.Close())
	require.Equal(t, 1, c.pages[waiting])
}
