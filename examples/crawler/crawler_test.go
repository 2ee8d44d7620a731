package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A countingServer counts the requests per path and query.
type countingServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int
}

func newCountingServer(t *testing.T, h http.Handler) *countingServer {
	s := &countingServer{requests: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.RequestURI]++
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func runCrawler(t *testing.T, args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = run(t.Context(), args, &out, &errOut)
	return status, out.String(), errOut.String()
}

// value returns the number in a row of the summary.
func value(t *testing.T, summary, row string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^ *([0-9,]+) ` + row + `( |$)`).FindStringSubmatch(summary)
	require.NotNil(t, m, "no row %q in:\n%s", row, summary)
	n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	require.NoError(t, err)
	return n
}

func htmlPage(hrefs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { sendPage(w, "page", strings.Join(hrefs, " ")) }
}

// TestBuiltInSite: every page that may be fetched is fetched exactly once.
func TestBuiltInSite(t *testing.T) {
	site := newCountingServer(t, siteHandler())
	status, out, _ := runCrawler(t, "-workers", "16", "-rate", "0", "-depth", "8", site.URL)
	require.Equal(t, 0, status, out)
	want := map[string]bool{"/robots.txt": true, "/vector": true, "/wiki": true, "/rope.html": true, "/compare?a=trie&b=hash-table": true}
	require.NoError(t, fs.WalkDir(siteFiles, "site", func(path string, d fs.DirEntry, err error) error {
		if path = strings.TrimSuffix(strings.TrimPrefix(path, "site"), "index.html"); !d.IsDir() {
			want[path] = path != "/sponsor.html" && !strings.HasPrefix(path, "/drafts/") // nofollow, robots.txt
		}
		return err
	}))
	for v := range volumes {
		for e := range entries {
			want[fmt.Sprintf("/archive/%d/%d", v, e)] = true
		}
	}
	for path, fetched := range want {
		assert.Equal(t, fetched, site.requests[path] > 0, path)
	}
	months := 0
	for path, n := range site.requests {
		assert.Equal(t, 1, n, path)
		if strings.HasPrefix(path, "/calendar?") {
			months++
		}
	}
	assert.Equal(t, 15, months, "the first month is one click away, and seven more to both sides are within -depth 8")
	assert.Equal(t, len(site.requests)-1, value(t, out, "new")) // robots.txt is not linked
	assert.Equal(t, value(t, out, "new"), value(t, out, "pages")+value(t, out, "redirects")+value(t, out, "failed"))
	sum := 0
	for _, row := range []string{"new", "duplicate", "off-host", "too deep", "robots.txt", "nofollow", "unusable"} {
		sum += value(t, out, row)
		assert.Positive(t, value(t, out, row), row)
	}
	assert.Equal(t, value(t, out, "links"), sum)
	assert.Contains(t, out, "/rope.html: 404 Not Found")
}

// TestHugeDepth ends by -max in the calendar, which has no end.
func TestHugeDepth(t *testing.T) {
	site := newCountingServer(t, siteHandler())
	status, out, _ := runCrawler(t, "-rate", "0", "-depth", "1000000000000000000", "-max", "20", site.URL+"/calendar?month=2026-11")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "stopped after 20 requests")
	assert.Equal(t, 20, value(t, out, "pages")+value(t, out, "redirects")+value(t, out, "failed"))
}

// TestDepthIsTheSmallest: "/child" is 3 clicks away through the slow page and 4 through the fast
// pages.
func TestDepthIsTheSmallest(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage("/slow", "/fast"))
	mux.Handle("GET /slow", slow(htmlPage("/page"), 100*time.Millisecond))
	mux.Handle("GET /fast", htmlPage("/faster"))
	mux.Handle("GET /faster", htmlPage("/page"))
	mux.Handle("GET /page", htmlPage("/child"))
	mux.Handle("GET /child", htmlPage())
	site := newCountingServer(t, mux)
	status, _, _ := runCrawler(t, "-rate", "0", "-depth", "3", site.URL)
	assert.Equal(t, 0, status)
	assert.Equal(t, 1, site.requests["/child"])
}

// TestFollow: a URL that is not queued is not seen, and the hash has a seed that pages cannot know.
func TestFollow(t *testing.T) {
	start := target{"http://example.org", "/"}
	c, err := newCrawler(config{depth: 2, n: 100, p: 1e-6, starts: []target{start}})
	require.NoError(t, err)
	assert.Equal(t, bloom.MapHash.Name(), c.seen.Scheme().Hash().Name())
	c.client.hosts[start.origin].problem = errors.New("not yet")
	c.follow(&url.URL{}, link{href: start.String()}, 0) // forbidden
	c.client.hosts[start.origin].problem = nil
	c.follow(&url.URL{}, link{href: start.String()}, 3) // too deep
	assert.False(t, c.seen.ContainsString(start.String()))
}

func TestOutgrownFilter(t *testing.T) {
	site := newCountingServer(t, siteHandler())
	status, out, _ := runCrawler(t, "-rate", "0", "-n", "10", "-p", "0.5", site.URL+"/archive/")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "The crawl has outgrown the filter")
	for path, n := range site.requests {
		assert.Equal(t, 1, n, path)
	}
}

func TestOffHost(t *testing.T) {
	other := newCountingServer(t, htmlPage())
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage(other.URL+"/", "/away", "/here"))
	mux.Handle("GET /away", http.RedirectHandler(other.URL+"/redirected", http.StatusFound))
	mux.Handle("GET /here", http.RedirectHandler("/there?b=1&a=2", http.StatusFound))
	mux.Handle("GET /there", htmlPage())
	site := newCountingServer(t, mux)
	status, out, _ := runCrawler(t, "-rate", "0", site.URL)
	assert.Equal(t, 0, status)
	assert.Empty(t, other.requests)
	assert.Equal(t, 2, value(t, out, "off-host"))
	assert.Equal(t, 1, site.requests["/there?a=2&b=1"])

	status, _, _ = runCrawler(t, "-rate", "0", site.URL, other.URL)
	assert.Equal(t, 0, status)
	assert.Equal(t, map[string]int{"/robots.txt": 1, "/": 1, "/redirected": 1}, other.requests)

	status, out, errOut := runCrawler(t, "-rate", "0", site.URL+"/away")
	assert.Equal(t, 1, status)
	assert.Contains(t, out, "redirects to "+other.URL+"/redirected on another host: start there")
	assert.Contains(t, errOut, "nothing was fetched")
}

func TestRobots(t *testing.T) {
	for robots, want := range map[string]struct {
		status  int
		problem string
	}{
		"User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n": {200, ""},
		"no":             {500, "500 Internal Server Error"},
		"Disallow: /\n":  {200, "Disallow before User-agent"},
		"none, so allow": {404, "allowed"},
	} {
		site := newCountingServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				w.WriteHeader(want.status)
				io.WriteString(w, robots)
			}
		}))
		status, out, _ := runCrawler(t, "-rate", "0", site.URL)
		allowed := want.problem == "allowed"
		assert.Equal(t, allowed, status == 0, out)
		assert.Equal(t, allowed, site.requests["/"] == 1, out)
		if !allowed {
			assert.Contains(t, out, want.problem)
		}
	}
}

func TestBadServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage("/error", "/reset", "/cut", "/nowhere", "/good"))
	mux.HandleFunc("GET /error", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) })
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		sendPage(w, "cut", "/after-cut")
	})
	mux.HandleFunc("GET /nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	mux.Handle("GET /good", htmlPage())
	status, out, _ := runCrawler(t, "-rate", "0", newCountingServer(t, mux).URL)
	assert.Equal(t, 0, status)
	assert.Equal(t, 4, value(t, out, "failed"), out)
	assert.Equal(t, 2, value(t, out, "pages"), out)
	assert.Contains(t, out, "/error: 500 Internal Server Error")
}

// TestCancel: Ctrl-C ends a crawl while a server does not answer.
func TestCancel(t *testing.T) {
	for _, path := range []string{"/hang", "/robots.txt"} {
		ctx, cancel := context.WithCancel(t.Context())
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				cancel()
				<-r.Context().Done()
			}
			htmlPage("/hang", "/1").ServeHTTP(w, r)
		}))
		var out bytes.Buffer
		assert.Equal(t, 0, run(ctx, []string{"-rate", "0", site.URL}, &out, io.Discard))
		assert.Contains(t, out.String(), "\ninterrupted in ")
		assert.Equal(t, 0, value(t, out.String(), "failed"), out.String())
		site.Close()
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "-7"}, {"-p", "1.5"}, {"-p", "NaN"}, {"-n", "18446744073709551615"}, {"-workers", "0"}, {"-rate", "NaN"}, {"-depth", "-2"},
		{"-max", "-3"}, {"-speed", "1"}, {"ftp://example.org/"}, {"http://[::1"},
	} {
		status, out, errOut := runCrawler(t, args...)
		assert.Equal(t, 2, status, args)
		assert.Contains(t, errOut, args[len(args)-1])
		assert.Empty(t, out)
	}
}
