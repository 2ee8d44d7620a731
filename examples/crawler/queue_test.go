package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	child.Main(m, map[string]func([]string) error{"crawl": func(args []string) error {
		child.EndWithTest()
		c, err := newCrawler(10_000, clicks, 0)
		if err != nil {
			return err
		}
		c.pause, c.maxPause = time.Millisecond, 10*time.Millisecond
		err = c.crawl(context.Background(), args[0], args[1])
		if err == nil && c.waiting() > 0 {
			return errors.New("pages wait")
		}
		return err
	}, "main": func([]string) error { main(); return nil }})
}

const (
	clicks = 4
	pages  = 2000
)

// A wood is a site whose pages have links to five others. It counts the requests for each page. If there is a limit, it
// hangs after so many.
type wood struct {
	requests [pages]atomic.Int32
	served   atomic.Int32 // of this round
	limit    atomic.Int32
}

func linksOf(i int) []int {
	random := rand.New(rand.NewPCG(uint64(i), 0))
	links := []int{i, 0}
	for range 5 {
		links = append(links, random.IntN(pages))
	}
	return links
}

func (w *wood) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil {
		http.NotFound(answer, r)
		return
	}
	if limit := w.limit.Load(); limit > 0 && w.served.Add(1) > limit {
		<-r.Context().Done()
		return
	}
	w.requests[i].Add(1)
	var hrefs []string
	for _, link := range linksOf(i) {
		hrefs = append(hrefs, fmt.Sprint("/", link))
	}
	sendLinks(answer, hrefs...)
}

// near returns the pages that are at most clicks away from page 0.
func near() map[int]bool {
	known, level := map[int]bool{0: true}, []int{0}
	for range clicks {
		var next []int
		for _, i := range level {
			for _, link := range linksOf(i) {
				if !known[link] {
					known[link] = true
					next = append(next, link)
				}
			}
		}
		level = next
	}
	return known
}

// TestRestart kills a crawl again and again, stops it in between, cuts the last line of its queue file, and lets it
// end. All pages are fetched that are near enough. None is fetched again that the file had as done. In each round the
// site hangs soon, so that pages are left for the next one, however late the end comes.
func TestRestart(t *testing.T) {
	w := &wood{}
	site := httptest.NewServer(w)
	defer site.Close()
	path, want, random := filepath.Join(t.TempDir(), "site.queue"), near(), rand.New(rand.NewPCG(1, 0))
	once := map[int]int32{} // the requests for the pages that were done
	noteDone := func() (done int) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := bytes.SplitAfter(text, []byte("\n"))
		for _, line := range lines[1 : len(lines)-1] {
			var p page
			require.NoError(t, json.Unmarshal(line, &p))
			i, err := strconv.Atoi(p.URL[len(site.URL)+1:])
			require.NoError(t, err)
			if _, known := once[i]; !known {
				once[i] = w.requests[i].Load()
			}
			require.Equal(t, once[i], w.requests[i].Load(), "page %d is fetched again", i)
			done++
		}
		return done
	}
	const rounds = 8
	w.limit.Store(int32(len(want) / (rounds + 1)))
	for round := range rounds {
		w.served.Store(0)
		until := 1 + random.Int32N(w.limit.Load())
		reached := func() bool { return w.served.Load() >= until }
		if round%2 == 0 {
			p := child.Start(t, "crawl", path, site.URL+"/0")
			require.Eventually(t, reached, 10*time.Minute, 100*time.Microsecond)
			require.NoError(t, p.Process.Kill())
			_ = p.Wait()
		} else {
			c, err := newCrawler(10_000, clicks, 0)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			go func() {
				for !reached() {
					time.Sleep(100 * time.Microsecond)
				}
				stop()
			}()
			require.NoError(t, c.crawl(ctx, path, site.URL+"/0"))
			require.Positive(t, c.waiting())
			if c.file != nil { // not if late requests of the round before have stopped it at once
				require.NoError(t, c.file.Close())
				require.EqualValues(t, noteDone(), c.fetched.Load(), "of all rounds")
			}
		}
		noteDone()
		cut, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = cut.WriteString(`{"url":"http://exa`)
		require.NoError(t, err)
		require.NoError(t, cut.Close())
	}
	w.limit.Store(0)
	for range 2 { // the second one finds nothing to do
		child.Start(t, "crawl", path, site.URL+"/0").Finish(t)
		require.Equal(t, len(want), noteDone())
	}
	again := 0
	for i := range w.requests {
		n := int(w.requests[i].Load())
		require.Equal(t, want[i], n > 0, "page %d", i)
		again += max(n-1, 0)
	}
	t.Logf("%d pages, %d stops: %d pages fetched again", len(want), rounds, again)
	require.LessOrEqual(t, again, rounds*workers)
}

// TestQueueRefuses: a queue file is not mixed with another crawl, and no page is lost if it cannot be used.
func TestQueueRefuses(t *testing.T) {
	site := httptest.NewServer(siteHandler())
	defer site.Close()
	path := filepath.Join(t.TempDir(), "site.queue")
	try := func(path string, depth uint, starts ...string) error {
		c, err := newCrawler(1000, depth, 0)
		require.NoError(t, err)
		err = c.crawl(t.Context(), path, starts...)
		if c.file != nil {
			require.NoError(t, c.file.Close())
		}
		return err
	}
	require.NoError(t, try(path, 8, site.URL))
	require.ErrorContains(t, try(path, 7, site.URL), "site.queue is the queue of another crawl")
	require.ErrorContains(t, try(path, 8, site.URL+"/heap.html"), "is the queue of another crawl")
	require.Error(t, try(t.TempDir(), 8, site.URL))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for damaged, want := range map[string]string{
		string(text) + "{\n":                                        "line 27: ",
		string(text) + `{"url":"http://other/"}` + "\n":             `line 27: "http://other/" is done, and no line before led to it`,
		string(text) + string(text[bytes.IndexByte(text, '\n')+1:]): "is done, and no line before led to it",
	} {
		require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
		require.ErrorContains(t, try(path, 8, site.URL), want)
	}
	for _, other := range []string{"a note without a newline", "\n", string(text[:10]) + "\n"} {
		require.NoError(t, os.WriteFile(path, []byte(other), 0o600))
		require.ErrorContains(t, try(path, 8, site.URL), "no queue")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, other, string(after))
	}
}

// TestFullDisk: a crawl ends when its queue file cannot be written, and writes nothing after the cut line.
func TestFullDisk(t *testing.T) {
	site := httptest.NewServer(siteHandler())
	defer site.Close()
	c, err := newCrawler(1000, 8, 0)
	require.NoError(t, err)
	closed, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	c.stop, c.file = func() {}, closed
	c.finish(page{URL: "http://example.org/"}, nil)
	require.ErrorIs(t, c.broken, os.ErrClosed)
	require.Zero(t, c.fetched.Load())
}
