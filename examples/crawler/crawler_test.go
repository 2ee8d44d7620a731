package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crawlOf crawls a server. It returns the number of requests per path and query.
func crawlOf(t *testing.T, n uint64, depth uint, h http.Handler, starts ...string) (map[string]int, *crawler, error) {
	var mu sync.Mutex
	requests := map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.RequestURI]++
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	defer site.Close()
	c, err := newCrawler(n, depth, 0)
	require.NoError(t, err)
	c.pause = time.Millisecond
	err = c.crawl(t.Context(), "", append(starts, site.URL)...)
	return requests, c, err
}

func sendLinks(w http.ResponseWriter, links ...string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for _, link := range links {
		fmt.Fprintf(w, "<p><a href=\"%s\">link</a>\n", link)
	}
}

func links(hrefs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { sendLinks(w, hrefs...) }
}

// TestBuiltInSite: every page that may be fetched is fetched exactly once.
func TestBuiltInSite(t *testing.T) {
	requests, c, err := crawlOf(t, 1000, 8, siteHandler())
	require.NoError(t, err)
	want := map[string]int{"/index.html": 1, "/trees": 1, "/rope.html": 1, // two redirects and a dead link
		"/glossary.html?a=hash-table&b=trie": 1, "/trees/b-tree.html?print=yes": 1}
	require.NoError(t, fs.WalkDir(site, "site", func(path string, d fs.DirEntry, err error) error {
		path = strings.TrimPrefix(path, "site")
		if !d.IsDir() && path != "/sponsor.html" && !strings.HasPrefix(path, "/drafts/") { // nofollow, robots.txt
			want[strings.TrimSuffix(path, "index.html")] = 1
		}
		return err
	}))
	want["/index.html"] = 1
	require.Equal(t, want, requests)
	require.EqualValues(t, 1, c.failed.Load(), "rope")
	require.EqualValues(t, len(want)-2, c.fetched.Load(), "without rope and robots.txt")
	require.NotContains(t, c.summary(), "outgrown")
}

// TestManyLinks: the workers meet the same links at the same time, and a calendar has no end.
func TestManyLinks(t *testing.T) {
	const pages = 3000
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		links := []string{"/calendar?month=1"}
		for i := range pages {
			links = append(links, fmt.Sprint("/page/", i))
		}
		sendLinks(w, links...)
	})
	mux.HandleFunc("GET /page/{i}", func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.PathValue("i"))
		links := []string{"/", fmt.Sprintf("%d?", (i+1)%pages), fmt.Sprintf("../new/%d", i/5)}
		for j := range 5 {
			links = append(links, fmt.Sprintf("../page/%d", (7*i+j*j)%pages))
		}
		sendLinks(w, links...)
	})
	mux.HandleFunc("GET /calendar", func(w http.ResponseWriter, r *http.Request) {
		month, _ := strconv.Atoi(r.FormValue("month"))
		sendLinks(w, fmt.Sprintf("?month=%d", month-1), fmt.Sprintf("?month=%d#top", month+1))
	})
	requests, _, err := crawlOf(t, 10_000, 8, mux)
	require.NoError(t, err)
	require.Len(t, requests, 2+pages+pages/5+15, "robots.txt, the start, and months 1-7 to 1+7")
	for path, n := range requests {
		require.Equal(t, 1, n, path)
	}
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
	requests, _, err := crawlOf(t, 100, 3, mux)
	require.NoError(t, err)
	require.Equal(t, 1, requests["/child"])
}

// TestFilter: the filter has a keyed hash, learns no URL that is not queued, and reports when it is full.
func TestFilter(t *testing.T) {
	c, err := newCrawler(100, 2, 0)
	require.NoError(t, err)
	require.Equal(t, bloom.MapHash, c.seen.Scheme().Hash())
	start, err := url.Parse("http://example.org/")
	require.NoError(t, err)
	require.Nil(t, c.follow(start, ""), "off-host")
	require.False(t, c.seen.ContainsString(start.String()))
	_, c, err = crawlOf(t, 100, 0, siteHandler())
	require.NoError(t, err)
	require.EqualValues(t, 1, c.seen.Stats().EstimatedCount, "links that are too deep")
	requests, c, err := crawlOf(t, 10, 8, siteHandler())
	require.NoError(t, err)
	require.Contains(t, c.summary(), "The crawl has outgrown the filter")
	for path, n := range requests {
		require.Equal(t, 1, n, path)
	}
}

// TestOddLinks: links and redirects to other hosts are not followed, unless they are start URLs. Pages that
// cannot be read are counted, and the crawl goes on.
func TestOddLinks(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", links(other.URL+"/", "/away", "/here", "/error", "/reset", "/cut", "/nowhere"))
	mux.Handle("GET /away", http.RedirectHandler(other.URL+"/redirected", http.StatusFound))
	mux.Handle("GET /here", http.RedirectHandler("/there?b=1&a=2", http.StatusFound))
	mux.Handle("GET /there", links())
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		sendLinks(w, "/after-cut")
	})
	mux.HandleFunc("GET /nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	requests, c, err := crawlOf(t, 100, 8, mux)
	require.NoError(t, err)
	require.Zero(t, asked)
	require.Equal(t, 1, requests["/there?a=2&b=1"])
	require.EqualValues(t, 4, c.failed.Load(), "error, reset, cut, nowhere")
	require.EqualValues(t, 4, c.fetched.Load(), "the start, away, here, there")
	_, _, err = crawlOf(t, 100, 8, mux, other.URL)
	require.NoError(t, err)
	require.Equal(t, 3, asked, "robots.txt and two pages")
}

func TestRobots(t *testing.T) {
	for robots, want := range map[string]struct{ answer, pages int }{
		"User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n": {200, 0},
		"no":             {500, 0},
		"Disallow: /\n":  {200, 0}, // before User-agent
		"none, so allow": {404, 1},
		strings.Repeat("#", maxBody) + "\nUser-agent: *\nDisallow: /\n": {200, 1}, // or a server could fill the memory
	} {
		requests, _, err := crawlOf(t, 100, 8, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				w.WriteHeader(want.answer)
				io.WriteString(w, robots)
			}
		}))
		assert.Equal(t, want.pages == 0, err != nil, robots)
		assert.Equal(t, want.pages, requests["/"], robots)
	}
}

// TestMovedRobots: robots.txt may have moved up to five times.
func TestMovedRobots(t *testing.T) {
	for moves := range 7 {
		requests, _, err := crawlOf(t, 100, 8, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/rules/"))
			switch {
			case r.URL.Path != "/robots.txt" && at == 0:
				sendLinks(w, "/private")
			case at < moves:
				http.Redirect(w, r, fmt.Sprint("/rules/", at+1), http.StatusMovedPermanently)
			default:
				io.WriteString(w, "User-agent: *\nDisallow: /private\n")
			}
		}))
		require.Equal(t, moves > 5, err != nil, moves)
		require.Equal(t, moves <= 5, requests["/"] == 1, moves)
		require.Zero(t, requests["/private"], moves)
	}
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
		c, err := newCrawler(100, 8, 0)
		require.NoError(t, err)
		require.NoError(t, c.crawl(ctx, "", site.URL))
		require.Zero(t, c.failed.Load())
		site.Close()
	}
}

func TestBadStart(t *testing.T) {
	for _, start := range []string{"ftp://example.org/", "http://[::1"} {
		_, _, err := crawlOf(t, 100, 8, siteHandler(), start)
		require.ErrorContains(t, err, start)
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
