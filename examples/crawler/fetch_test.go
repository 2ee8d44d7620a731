package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/stretchr/testify/require"
)

// A moody is a wood that may be away or hang. Half of its pages fail at the first try, each in one of five ways. It
// counts the requests that it serves.
type moody struct {
	wood
	mu         sync.Mutex
	mood, next int // fine, away or hanging
	left       int // answers until it has the next mood
	refused    atomic.Int32
	tries      [pages]atomic.Int32
}

// is gives the site a mood now, and the next one from the answer at left on; 0 is never.
func (m *moody) is(mood, left, next int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mood, m.left, m.next = mood, left, next
}

// now returns the mood.
func (m *moody) now() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mood
}

// answer returns the mood for an answer.
func (m *moody) answer() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left == 0 {
		m.mood = m.next
	}
	return m.mood
}

const (
	fine = iota
	away
	hanging
)

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.URL.Path[1:])
	mood := m.now()
	if err == nil {
		mood = m.answer()
	}
	switch mood {
	case away:
		m.refused.Add(1)
		panic(http.ErrAbortHandler)
	case hanging:
		m.refused.Add(1)
		<-r.Context().Done()
		return
	}
	if err != nil || m.tries[i].Add(1) > 1 {
		m.wood.ServeHTTP(w, r)
		return
	}
	switch i % 10 {
	case 0:
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	case 1:
		w.Header().Set("Retry-After", "3600") // at most maxPause
		w.WriteHeader(http.StatusServiceUnavailable)
	case 2:
		w.WriteHeader(http.StatusInternalServerError)
	case 3:
		panic(http.ErrAbortHandler)
	case 4:
		w.Header().Set("Content-Length", "1000000") // the answer is cut
		sendLinks(w, "/cut")
	default:
		m.wood.ServeHTTP(w, r)
	}
}

// TestAway: a site goes away until the crawl gives up. Or it goes away for a moment, and then hangs until the crawl is
// killed. Each page is served once, but for those that the kills interrupt, and none is written as failed.
func TestAway(t *testing.T) {
	m := &moody{}
	site := httptest.NewServer(m)
	defer site.Close()
	path, want, random := filepath.Join(t.TempDir(), "site.queue"), near(), rand.New(rand.NewPCG(2, 0))
	const rounds = 4
	change := func(next int) { m.is(fine, 1+random.IntN(len(want)/(3*rounds)), next) } // fewer pages than wait
	for range rounds {
		change(away)
		p := child.Start(t, "crawl", path, site.URL+"/0")
		require.Error(t, p.Wait())
		require.Contains(t, p.Errors(), "pages wait")
		require.Contains(t, p.Errors(), "left alone for this run")

		change(away)
		p = child.Start(t, "crawl", path, site.URL+"/0")
		ended := make(chan struct{})
		go func() {
			_ = p.Wait() // it may give up in that moment
			close(ended)
		}()
		for _, mood := range []int{away, hanging} {
			if refused := m.refused.Load(); m.now() != mood {
				require.Eventually(t, func() bool {
					select {
					case <-ended:
						return true
					default:
						return m.refused.Load() > refused
					}
				}, 10*time.Minute, 100*time.Microsecond)
			}
			if mood == away {
				change(hanging)
			}
		}
		_ = p.Process.Kill()
		<-ended
		m.is(fine, 0, fine)
	}
	child.Start(t, "crawl", path, site.URL+"/0").Finish(t)
	again := 0
	for i := range m.requests {
		n := int(m.requests[i].Load())
		require.Equal(t, want[i], n > 0, "page %d", i)
		again += max(n-1, 0)
	}
	require.LessOrEqual(t, again, rounds*workers, "by the kills")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n"))[1:] {
		var p page
		require.NoError(t, json.Unmarshal(line, &p))
		require.Empty(t, p.Error)
	}
}

// TestMainWaits: the command ends with status 1 while pages wait, says how many, and goes on with them later.
func TestMainWaits(t *testing.T) {
	m := &moody{}
	m.is(away, 0, away)
	site := httptest.NewServer(m)
	defer site.Close()
	path := filepath.Join(t.TempDir(), "site.queue")
	run := func() (string, error) {
		cmd := child.Command(os.Args[0], "main", "-queue", path, "-depth", "0", "-delay", "0", site.URL+"/5")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run()
	require.Error(t, err)
	require.Contains(t, out, "Stopped: 0 pages fetched, 0 failed")
	require.Contains(t, out, "1 pages wait in "+path+". The same command goes on.")
	m.is(fine, 0, fine)
	out, err = run()
	require.NoError(t, err, out)
	require.Contains(t, out, "Done: 1 pages fetched, 0 failed")
	require.EqualValues(t, 1, m.requests[5].Load())
}

// TestTries: a page is tried three times if it may be there later. A host of which five pages failed in a row is left
// alone: without a queue file its pages count as failed, with one they wait at their depth. Other hosts go on.
func TestTries(t *testing.T) {
	const many = 200
	var broken atomic.Bool
	broken.Store(true)
	var requests, deep atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		var hrefs []string
		for i := range many {
			hrefs = append(hrefs, fmt.Sprint("/page/", i))
		}
		sendLinks(w, hrefs...)
	})
	mux.HandleFunc("GET /page/", func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		if broken.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		sendLinks(w, "/deep")
	})
	mux.HandleFunc("GET /deep", func(w http.ResponseWriter, _ *http.Request) { deep.Add(1); sendLinks(w, "/too-deep") })
	mux.HandleFunc("GET /too-deep", func(http.ResponseWriter, *http.Request) { t.Error("the depth is lost") })
	site := httptest.NewServer(mux)
	defer site.Close()
	other := httptest.NewServer(&wood{})
	defer other.Close()
	crawl := func(path string) *crawler {
		c, err := newCrawler(10_000, 2, 0)
		require.NoError(t, err)
		c.pause = time.Millisecond
		require.NoError(t, c.crawl(t.Context(), path, site.URL, other.URL+"/0"))
		if c.file != nil {
			require.NoError(t, c.file.Close())
		}
		return c
	}
	c := crawl("")
	require.EqualValues(t, many, c.failed.Load())
	require.Zero(t, c.waiting())
	require.GreaterOrEqual(t, requests.Load(), int32(tries*mostInRow))
	require.LessOrEqual(t, requests.Load(), int32(tries*(mostInRow+workers)))
	path := filepath.Join(t.TempDir(), "site.queue")
	of := c.fetched.Load()
	c = crawl(path)
	require.EqualValues(t, many, c.waiting())
	require.Zero(t, c.failed.Load())
	require.Equal(t, of, c.fetched.Load(), "of the other host, and deeper levels")
	broken.Store(false)
	requests.Store(0)
	c = crawl(path)
	require.Zero(t, c.waiting()+c.failed.Load())
	require.EqualValues(t, many, requests.Load())
	require.EqualValues(t, 1, deep.Load())
}

// TestRedirectIsNoClick: pages behind redirects have the depth of the redirecting page, and redirects without end are
// a failure, also after a restart in between.
func TestRedirectIsNoClick(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", links("/a", "/loop?i=0"))
	mux.Handle("GET /a", http.RedirectHandler("/b", http.StatusFound))
	mux.Handle("GET /b", http.RedirectHandler("/c", http.StatusMovedPermanently))
	mux.Handle("GET /c", links("/d"))
	mux.HandleFunc("GET /loop", func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.FormValue("i"))
		http.Redirect(w, r, fmt.Sprintf("/loop?i=%d", i+1), http.StatusFound)
	})
	requests, c, err := crawlOf(t, 100, 1, mux)
	require.NoError(t, err)
	require.Equal(t, 1, requests["/c"])
	require.Zero(t, requests["/d"])
	require.EqualValues(t, 1, c.failed.Load(), "the loop")
	require.Len(t, requests, 1+1+3+1+maxHops, "robots.txt, the start, a to c, the loop")

	site := httptest.NewServer(mux)
	defer site.Close()
	path := filepath.Join(t.TempDir(), "site.queue")
	run := func() *crawler {
		c, err := newCrawler(100, 1, 0)
		require.NoError(t, err)
		require.NoError(t, c.crawl(t.Context(), path, site.URL))
		require.NoError(t, c.file.Close())
		return c
	}
	whole := run().progress()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	for n := range lines {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:n], "")), 0o600))
		require.Equal(t, whole, run().progress(), "after %d lines", n)
	}
}

// TestLargePage: the links in the first 4 MiB of a page are followed, and the log says what is left out.
func TestLargePage(t *testing.T) {
	var lines bytes.Buffer
	log.SetOutput(&lines)
	defer log.SetOutput(os.Stderr)
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", links("/whole", "/larger"))
	for path, size := range map[string]int{"/whole": maxBody, "/larger": maxBody + 1} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			link := fmt.Sprintf("<a href=%s/link></a>", path)
			fmt.Fprint(w, link, strings.Repeat(" ", size-len(link)))
		})
		mux.Handle("GET "+path+"/link", links())
	}
	_, c, err := crawlOf(t, 100, 8, mux)
	require.NoError(t, err)
	require.EqualValues(t, 5, c.fetched.Load())
	require.Equal(t, 1, strings.Count(lines.String(), "only the first 4194304 bytes are read: http://"), lines.String())
	require.Contains(t, lines.String(), "/larger\n")
}

// TestRetryAfter: seconds and dates.
func TestRetryAfter(t *testing.T) {
	require.Equal(t, 2*time.Minute, retryAfter("120"))
	require.Zero(t, retryAfter(""))
	require.Zero(t, retryAfter("soon"))
	require.Zero(t, retryAfter("-1"))
	require.Negative(t, retryAfter("Fri, 31 Dec 1999 23:59:59 GMT"))
	require.Greater(t, retryAfter(time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat)), time.Hour)
}
