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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crawlOf runs the crawler on a server with the extra arguments. It returns the number of requests
// per path and query, and what the crawler printed.
func crawlOf(t *testing.T, h http.Handler, args ...string) (requests map[string]int, status int, output string) {
	var mu sync.Mutex
	requests = map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.RequestURI]++
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	defer site.Close()
	var out bytes.Buffer
	status = run(t.Context(), append(append([]string{"-rate", "1e6"}, args...), site.URL), &out, &out)
	return requests, status, out.String()
}

// count returns a number of the summary.
func count(t *testing.T, summary, what string) int {
	m := regexp.MustCompile(`(?m)^ *([0-9,]+) ` + what + `$`).FindStringSubmatch(summary)
	require.NotNil(t, m, "no %q in:\n%s", what, summary)
	n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	require.NoError(t, err)
	return n
}

func links(hrefs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { sendLinks(w, hrefs...) }
}

// TestBuiltInSite: every page that may be fetched is fetched exactly once.
func TestBuiltInSite(t *testing.T) {
	requests, status, out := crawlOf(t, siteHandler())
	require.Equal(t, 0, status, out)
	want := []string{"/vector", "/rope.html", "/glossary.html?a=hash-table&b=trie", "/archive/"}
	require.NoError(t, fs.WalkDir(siteFiles, "site", func(path string, d fs.DirEntry, err error) error {
		path = strings.TrimPrefix(path, "site")
		if !d.IsDir() && path != "/sponsor.html" && !strings.HasPrefix(path, "/drafts/") { // nofollow, robots.txt
			want = append(want, strings.TrimSuffix(path, "index.html"))
		}
		return err
	}))
	for i := range letters {
		want = append(want, fmt.Sprintf("/archive/%d", i))
	}
	for month := 1 - 7; month <= 1+7; month++ { // clicks 1 to 8
		want = append(want, fmt.Sprintf("/calendar?month=%d", month))
	}
	for _, path := range want {
		require.Equal(t, 1, requests[path], path)
		delete(requests, path)
	}
	require.Equal(t, map[string]int{"/index.html": 1, "/trees/b-tree.html?print=yes": 1}, requests) // linked too
	require.Equal(t, len(want)+1, count(t, out, "new"))                                             // without robots.txt
	require.Equal(t, count(t, out, "new"), count(t, out, "fetched")+count(t, out, "failed"))
	require.Contains(t, out, "/rope.html: 404 Not Found")
}

// TestDepthIsTheSmallest: "/child" is 3 clicks away through the slow page and 4 through the fast
// pages.
func TestDepthIsTheSmallest(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", links("/slow", "/fast"))
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(100 * time.Millisecond)
		sendLinks(w, "/page")
	})
	mux.Handle("GET /fast", links("/faster"))
	mux.Handle("GET /faster", links("/page"))
	mux.Handle("GET /page", links("/child"))
	mux.Handle("GET /child", links())
	requests, status, _ := crawlOf(t, mux, "-depth", "3")
	require.Equal(t, 0, status)
	require.Equal(t, 1, requests["/child"])
}

// TestFilter: the filter has a keyed hash, learns no URL that is not queued, and reports when it is full.
func TestFilter(t *testing.T) {
	c, err := newCrawler(100, 2, 1, io.Discard)
	require.NoError(t, err)
	require.Equal(t, bloom.MapHash, c.seen.Scheme().Hash())
	start, err := url.Parse("http://example.org/")
	require.NoError(t, err)
	c.hosts[start.Host] = &host{}
	c.follow(start, "", 3) // too deep
	require.False(t, c.seen.ContainsString(start.String()))
	requests, _, out := crawlOf(t, siteHandler(), "-n", "10")
	require.Contains(t, out, "The crawl has outgrown the filter")
	for path, n := range requests {
		require.Equal(t, 1, n, path)
	}
}

// TestOffHost: links and redirects to other hosts are not followed, unless they are start URLs.
func TestOffHost(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", links(other.URL+"/", "/away", "/here"))
	mux.Handle("GET /away", http.RedirectHandler(other.URL+"/redirected", http.StatusFound))
	mux.Handle("GET /here", http.RedirectHandler("/there?b=1&a=2", http.StatusFound))
	mux.Handle("GET /there", links())
	requests, status, out := crawlOf(t, mux)
	require.Equal(t, 0, status)
	require.Zero(t, asked)
	require.Equal(t, 2, count(t, out, "off-host"))
	require.Equal(t, 1, requests["/there?a=2&b=1"])
	_, status, _ = crawlOf(t, mux, other.URL)
	require.Equal(t, 0, status)
	require.Equal(t, 3, asked, "robots.txt and two pages")
}

func TestRobots(t *testing.T) {
	for robots, want := range map[string]struct{ answer, status int }{
		"User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n": {200, 1},
		"no":             {500, 1},
		"Disallow: /\n":  {200, 1}, // before User-agent
		"none, so allow": {404, 0},
	} {
		requests, status, out := crawlOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				w.WriteHeader(want.answer)
				io.WriteString(w, robots)
			}
		}))
		assert.Equal(t, want.status, status, out)
		assert.Equal(t, 1-want.status, requests["/"], out)
	}
}

func TestBadServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", links("/error", "/reset", "/cut", "/nowhere", "/good"))
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		sendLinks(w, "/after-cut")
	})
	mux.HandleFunc("GET /nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	mux.Handle("GET /good", links())
	_, status, out := crawlOf(t, mux)
	require.Equal(t, 0, status)
	require.Equal(t, 4, count(t, out, "failed"), out)
	require.Equal(t, 2, count(t, out, "fetched"), out)
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
			sendLinks(w, "/hang", "/1")
		}))
		var out bytes.Buffer
		require.Equal(t, 0, run(ctx, []string{site.URL}, &out, &out))
		require.Contains(t, out.String(), "interrupted")
		require.Equal(t, 0, count(t, out.String(), "failed"), out.String())
		site.Close()
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"-n", "-7"}, {"-rate", "NaN"}, {"-depth", "-2"}, {"-speed", "1"}, {"ftp://example.org/"}, {"http://[::1"}} {
		var out bytes.Buffer
		require.Equal(t, 2, run(t.Context(), args, io.Discard, &out), args)
		require.Contains(t, out.String(), args[len(args)-1])
	}
}

func TestNormalize(t *testing.T) {
	base, err := url.Parse("http://example.org/dir/page.html?q=1#here")
	require.NoError(t, err)
	for ref, want := range map[string]string{
		"HTTP://EXAMPLE.org:80":           "http://example.org/",
		"https://example.org:443/":        "https://example.org/",
		"http://[::1]:80/x":               "http://[::1]/x",
		"http://user:secret@example.org/": "http://example.org/",
		"":                                "http://example.org/dir/page.html?q=1",
		"#top":                            "http://example.org/dir/page.html?q=1",
		"?q=2":                            "http://example.org/dir/page.html?q=2",
		"//other.example/x":               "http://other.example/x",
		" \n/xy \n":                       "http://example.org/xy",
		"/a/./b/../c":                     "http://example.org/a/c",
		"../../../x":                      "http://example.org/x",
		"/a/":                             "http://example.org/a/",
		"/a%2Fb":                          "http://example.org/a%2Fb",
		"/%7euser/%41":                    "http://example.org/~user/A",
		"/caf%c3%a9":                      "http://example.org/caf%C3%A9",
		"/%2541":                          "http://example.org/%2541",
		"/a?b=2&a=2&a=1&c":                "http://example.org/a?a=2&a=1&b=2&c=",
		"/a?x=%26&y=%3D":                  "http://example.org/a?x=%26&y=%3D",
	} {
		got, err := normalize(base, ref)
		if assert.NoError(t, err, "%q", ref) {
			assert.Equal(t, want, got.String(), "%q", ref)
			again, err := normalize(base, want)
			assert.NoError(t, err)
			assert.Equal(t, want, again.String(), "the normal form of a normal form is itself")
		}
	}
	for _, ref := range []string{"mailto:a@example.org", "javascript:void(0)", "ftp://example.org/", "http:", "/100%", "/a?x=%", "http://a:b/"} {
		_, err := normalize(base, ref)
		assert.Error(t, err, "%q", ref)
	}
}

func TestReadLinks(t *testing.T) {
	base, links, err := readLinks(strings.NewReader(`<!doctype html><base target=_top><base href=" /base/ ">
		<link href="/style.css"><img src="/image.png">
		<A HREF="/one?a=1&amp;b=2">1</A> <a href='two' REL="noopener NoFollow">2</a> <a name=x>no link</a>
		<map><area href=three></map> <a href="">4</a>
		<script>"<a href='/script'>"</script> <!-- <a href="/comment"> -->
		<a href="/cut`), &url.URL{Scheme: "http", Host: "example.org", Path: "/dir/page.html"})
	require.NoError(t, err)
	require.Equal(t, []string{"/one?a=1&b=2", "three", ""}, links)
	require.Equal(t, "http://example.org/base/", base.String())
}
