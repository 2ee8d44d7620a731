package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/temoto/robotstxt"
)

// A countingServer counts the requests for each URL in its normal form.
type countingServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int // by path and query
}

func newCountingServer(t *testing.T, h http.Handler) *countingServer {
	s := &countingServer{requests: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, err := resolve(&url.URL{}, "http://"+r.Host+r.RequestURI)
		if err != nil {
			t.Errorf("request for %q: %v", r.RequestURI, err)
		}
		s.mu.Lock()
		s.requests[target.path]++
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// counts returns the requests, once the crawl has ended.
func (s *countingServer) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// runCrawler runs the program and returns its exit status and output.
func runCrawler(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	status = run(t.Context(), args, &out, &errOut)
	return status, out.String(), errOut.String()
}

// value returns the number in a row of the summary.
func value(t *testing.T, summary, row string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(row) + ` +([0-9,]+)( |$)`).FindStringSubmatch(summary)
	require.NotNil(t, m, "no row %q in:\n%s", row, summary)
	n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	require.NoError(t, err)
	return n
}

// htmlPage is an HTML page with links.
func htmlPage(hrefs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		sendPage(w, "page", strings.Join(hrefs, " "))
	}
}

func TestBuiltInSite(t *testing.T) {
	site := newCountingServer(t, siteHandler())
	// -max ends the crawl should it not end by itself.
	status, out, _ := runCrawler(t, "-workers", "16", "-rate", "0", "-max", "6000", "-exact", site.URL)
	require.Equal(t, 0, status, out)
	got := site.counts()

	t.Run("no page twice", func(t *testing.T) {
		for path, n := range got {
			if n != 1 {
				t.Fatalf("%s was fetched %d times", path, n)
			}
		}
	})
	t.Run("every page once", func(t *testing.T) {
		require.NoError(t, fs.WalkDir(siteFiles, "site", func(path string, d fs.DirEntry, err error) error {
			path = strings.TrimPrefix(path, "site")
			if err != nil || d.IsDir() || path == "/sponsor.html" || strings.HasPrefix(path, "/drafts/") {
				return err
			}
			if path == "/trees/index.html" {
				path = "/trees/" // nothing links to the long name
			}
			assert.Equal(t, 1, got[path], path)
			return nil
		}))
		for v := range volumes {
			for e := range entries {
				if path := fmt.Sprintf("/archive/%d/%d", v, e); got[path] != 1 {
					t.Fatalf("%s was fetched %d times", path, got[path])
				}
			}
		}
		for _, path := range []string{"/", "/vector", "/wiki", "/rope.html", "/compare?a=trie&b=hash-table", "/trees/b-tree.html?print=yes"} {
			assert.Equal(t, 1, got[path], path)
		}
	})
	t.Run("nothing forbidden", func(t *testing.T) {
		for path := range got {
			assert.False(t, strings.HasPrefix(path, "/drafts/"), path)
		}
		assert.Equal(t, 0, got["/sponsor.html"], "nofollow")
		assert.Equal(t, 0, got["/not-a-link.html"], "a link in plain text")
	})
	t.Run("calendar", func(t *testing.T) {
		// The first month is 1 click away, so 7 more to both sides are within 8.
		months := 0
		for path := range got {
			if strings.HasPrefix(path, "/calendar?") {
				months++
			}
		}
		assert.Equal(t, 15, months)
		assert.Equal(t, 1, got["/calendar?month=2027-06"])
		assert.Equal(t, 0, got["/calendar?month=2027-07"])
	})
	t.Run("summary", func(t *testing.T) {
		requests := len(got) - 1 // robots.txt was fetched as such, and is linked nowhere
		assert.Equal(t, requests, value(t, out, "new"))
		assert.Equal(t, requests, value(t, out, "pages fetched")+value(t, out, "redirects")+value(t, out, "failed"))
		assert.Equal(t, 1, value(t, out, "failed"))
		assert.Equal(t, 2, value(t, out, "redirects"))
		assert.Equal(t, 0, value(t, out, "not fetched"))
		sum := 0
		for _, row := range []string{"new", "duplicate", "off-host", "too deep", "robots.txt", "nofollow", "unusable"} {
			sum += value(t, out, row)
			assert.Positive(t, value(t, out, row), row)
		}
		assert.Equal(t, value(t, out, "links found"), sum)
		assert.Contains(t, out, "/rope.html: 404 Not Found")
	})
	t.Run("exact", func(t *testing.T) {
		assert.Equal(t, value(t, out, "new"), value(t, out, "exact set"))
		assert.Equal(t, 0, value(t, out, "false positives"))
		assert.Equal(t, 0, value(t, out, "misses"))
	})
}

func TestNoArguments(t *testing.T) {
	status, out, _ := runCrawler(t, "-max", "50")
	assert.Equal(t, 0, status)
	assert.Regexp(t, `^no URL given: crawling a built-in site at http://127\.0\.0\.1:\d+/ `, out)
	assert.Contains(t, out, "stopped after 50 requests (-max)")
	assert.Equal(t, 50, value(t, out, "pages fetched")+value(t, out, "redirects")+value(t, out, "failed"))
	assert.Equal(t, value(t, out, "new")-50, value(t, out, "not fetched"))
}

func TestDepth(t *testing.T) {
	for depth, want := range []int{1, 3, 5} { // months: the first, then two for each click
		site := newCountingServer(t, siteHandler())
		status, _, _ := runCrawler(t, "-rate", "0", "-max", "50", "-depth", strconv.Itoa(depth), site.URL+"/calendar?month=2026-11")
		assert.Equal(t, 0, status)
		months := 0
		for path := range site.counts() {
			if strings.HasPrefix(path, "/calendar?") {
				months++
			}
		}
		assert.Equal(t, want, months, "depth %d", depth)
	}
}

// A page that is near but slow must not be overtaken by the long way around it:
// "/child" is 3 clicks away through "/slow", and 4 through the others.
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
	assert.Equal(t, 1, site.counts()["/child"])
}

// A URL that is not queued must stay new to the filter.
func TestNotQueuedIsNotSeen(t *testing.T) {
	start, err := resolve(&url.URL{}, "http://example.org/")
	require.NoError(t, err)
	c := newCrawler(config{depth: 2, starts: []target{start}}, bloom.MustNew(100, 1e-6))
	c.client.hosts[start.origin].rules, err = robotstxt.FromString("User-agent: *\nDisallow: /no\n")
	require.NoError(t, err)

	offer := func(t target, depth int) { c.follow(&url.URL{}, link{href: t.String()}, depth) }
	offer(start, 3)
	assert.Empty(t, slices.Concat(c.levels...))
	offer(start, 2)
	offer(start, 0)
	assert.Len(t, slices.Concat(c.levels...), 1)
	offer(target{start.origin, "/no"}, 0)
	assert.False(t, c.seen.ContainsString("http://example.org/no"))
}

// A filter for 10 URLs at p = 0.5 is full soon, at the latest after the 3,200
// entries of the archive. It then takes new URLs for seen, but never a seen one
// for new.
func TestTinyFilter(t *testing.T) {
	site := newCountingServer(t, siteHandler())
	status, out, _ := runCrawler(t, "-rate", "0", "-workers", "16", "-max", "6000", "-n", "10", "-p", "0.5", "-exact", site.URL+"/archive/")
	assert.Equal(t, 0, status)
	assert.Positive(t, value(t, out, "false positives"))
	assert.Equal(t, value(t, out, "false positives"), strings.Count(out, "  false positive: "+site.URL))
	assert.Equal(t, 0, value(t, out, "misses"))
	assert.Equal(t, value(t, out, "exact set"), value(t, out, "new")+value(t, out, "false positives"))
	assert.Contains(t, out, "The crawl has outgrown the filter")
	assert.Contains(t, out, "planned 10; 100 % of the bits are set")
	for path, n := range site.counts() {
		assert.Equal(t, 1, n, path)
	}
}

func TestOffHost(t *testing.T) {
	other := newCountingServer(t, htmlPage())
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage(other.URL+"/", "//"+other.Listener.Addr().String()+"/x", "/away", "/here"))
	mux.Handle("GET /away", http.RedirectHandler(other.URL+"/redirected", http.StatusFound))
	mux.Handle("GET /here", http.RedirectHandler("/there?b=1&a=2", http.StatusFound))
	mux.Handle("GET /there", htmlPage())
	site := newCountingServer(t, mux)

	status, out, _ := runCrawler(t, "-rate", "0", site.URL)
	assert.Equal(t, 0, status)
	assert.Empty(t, other.counts())
	assert.Equal(t, 3, value(t, out, "off-host"))
	assert.Equal(t, 1, site.counts()["/there?a=2&b=1"], "a redirect on the host is followed")

	status, out, _ = runCrawler(t, "-rate", "0", site.URL, other.URL)
	assert.Equal(t, 0, status)
	assert.Equal(t, map[string]int{"/robots.txt": 1, "/": 1, "/x": 1, "/redirected": 1}, other.counts())
	assert.Equal(t, 0, value(t, out, "off-host"))

	status, out, errOut := runCrawler(t, "-rate", "0", site.URL+"/away")
	assert.Equal(t, 1, status)
	assert.Contains(t, out, "redirects to "+other.URL+"/redirected on another host: start there")
	assert.Contains(t, errOut, "nothing was fetched")
}

func TestRobots(t *testing.T) {
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }
	}
	for _, test := range []struct {
		name    string
		robots  http.HandlerFunc
		fetched bool
		problem string
	}{
		{"none", http.NotFound, true, ""},
		{"by name", text("User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n"), false, ""},
		{"query", text("User-agent: *\nDisallow: /*?session=\n"), true, ""},
		{"server error", fail, false, "500 Internal Server Error"},
		{"unreadable", text("Disallow: /\n"), false, "Disallow before User-agent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("GET /robots.txt", test.robots)
			mux.Handle("GET /", htmlPage("/page?session=1"))
			site := newCountingServer(t, mux)
			status, out, _ := runCrawler(t, "-rate", "0", site.URL)
			assert.Equal(t, test.fetched, status == 0, out)
			assert.Equal(t, test.problem != "", strings.Contains(out, "robots.txt can't be read"))
			assert.Contains(t, out, test.problem)
			assert.Equal(t, test.fetched, site.counts()["/"] == 1)
			assert.Equal(t, test.fetched && test.name != "query", site.counts()["/page?session=1"] == 1)
		})
	}
}

func fail(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "no", http.StatusInternalServerError)
}

func TestBadServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage("/error", "/reset", "/cut", "/nowhere", "/good"))
	mux.HandleFunc("GET /error", fail)
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
	assert.Equal(t, 2, value(t, out, "pages fetched"), out)
	assert.Contains(t, out, "/error: 500 Internal Server Error")
}

// Ctrl-C ends a crawl wherever it is, and what was cut off is no failure of the page.
func TestCancel(t *testing.T) {
	for _, path := range []string{"/hang", "/robots.txt"} { // where the server does not answer
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
		assert.Contains(t, out.String(), "\ninterrupted\n")
		assert.Equal(t, 0, value(t, out.String(), "failed"), out.String())
		site.Close()
	}
}
