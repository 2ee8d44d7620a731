package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOffHost(t *testing.T) {
	other := newCountingServer(t, htmlPage())
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage(other.URL+"/", "//"+other.Listener.Addr().String()+"/x", "/away", "/here"))
	mux.Handle("GET /away", http.RedirectHandler(other.URL+"/redirected", http.StatusFound))
	mux.Handle("GET /here", http.RedirectHandler("/there?b=1&a=2", http.StatusFound))
	mux.Handle("GET /there", htmlPage())
	site := newCountingServer(t, mux)

	status, out, _ := runCrawler(t, "-rate", "0", site.URL)
	assert.Equal(t, exitOK, status)
	assert.Empty(t, other.counts())
	assert.Equal(t, 3, value(t, out, "off-host"))
	assert.Equal(t, 1, site.counts()["/there?a=2&b=1"], "a redirect on the host is followed")

	t.Run("two hosts", func(t *testing.T) {
		status, out, _ := runCrawler(t, "-rate", "0", site.URL, other.URL)
		assert.Equal(t, exitOK, status)
		assert.Equal(t, map[string]int{"/robots.txt": 1, "/": 1, "/x": 1, "/redirected": 1}, other.counts())
		assert.Equal(t, 0, value(t, out, "off-host"))
	})
	t.Run("start", func(t *testing.T) {
		status, out, errOut := runCrawler(t, "-rate", "0", site.URL+"/away")
		assert.Equal(t, exitFail, status)
		assert.Contains(t, out, "redirects to "+other.URL+"/redirected on another host: start there")
		assert.Contains(t, errOut, "nothing was fetched")
	})
}

func TestRobots(t *testing.T) {
	for _, test := range []struct {
		name    string
		robots  http.HandlerFunc
		fetched bool
		status  int
		problem string
	}{
		{"none", http.NotFound, true, exitOK, ""},
		{"allowed", text("User-agent: *\nDisallow: /other/\n"), true, exitOK, ""},
		{"by name", text("User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n"), false, exitFail, ""},
		{"query", text("User-agent: *\nDisallow: /*?session=\n"), true, exitOK, ""},
		{"server error", fail, false, exitFail, "500 Internal Server Error"},
		{"unreadable", text("Disallow: /\n"), false, exitFail, "Disallow before User-agent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("GET /robots.txt", test.robots)
			mux.Handle("GET /", htmlPage("/page?session=1"))
			site := newCountingServer(t, mux)
			status, out, _ := runCrawler(t, "-rate", "0", site.URL)
			assert.Equal(t, test.status, status, out)
			assert.Equal(t, test.problem != "", strings.Contains(out, "robots.txt can't be read"))
			assert.Contains(t, out, test.problem)
			assert.Equal(t, test.fetched, site.counts()["/"] == 1)
			assert.Equal(t, test.fetched && test.name != "query", site.counts()["/page?session=1"] == 1)
		})
	}
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { send(w, body) }
}

func fail(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "no", http.StatusInternalServerError)
}

func TestRateAndProgress(t *testing.T) {
	site := newCountingServer(t, siteHandler())
	start := time.Now()
	status, _, errOut := runCrawler(t, "-rate", "10", "-max", "12", site.URL)
	assert.Equal(t, exitOK, status)
	assert.GreaterOrEqual(t, time.Since(start), 1100*time.Millisecond, "12 requests are 11 waits")
	assert.Regexp(t, `^ +1\.\ds  \d+ fetched \(\d+/s\)  0 failed  \d+ queued  \d+ in the filter\n`, errOut)
}

func TestCrawlDelay(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /robots.txt", text("User-agent: *\nCrawl-delay: 0.1\n"))
	mux.Handle("GET /", htmlPage("/1", "/2"))
	site := newCountingServer(t, mux)
	start := time.Now()
	status, _, _ := runCrawler(t, "-rate", "0", site.URL)
	assert.Equal(t, exitOK, status)
	assert.GreaterOrEqual(t, time.Since(start), 200*time.Millisecond, "3 requests are 2 waits")
}

func TestBadServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", htmlPage("/error", "/hang", "/reset", "/cut", "/stall", "/nowhere", "/large", "/good"))
	mux.HandleFunc("GET /error", fail)
	mux.HandleFunc("GET /hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		sendPage(w, "cut", "/after-cut")
	})
	mux.HandleFunc("GET /stall", func(w http.ResponseWriter, r *http.Request) {
		sendPage(w, "stall", "/after-stall")
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) {
		sendPage(w, "large", "/before-limit "+strings.Repeat("x", 5000)+" /after-limit")
	})
	mux.Handle("GET /good", htmlPage())
	mux.Handle("GET /before-limit", htmlPage())
	site := newCountingServer(t, mux)

	status, out, _ := runCrawler(t, "-rate", "0", "-timeout", "1s", "-maxbody", "3000", site.URL)
	assert.Equal(t, exitOK, status)
	assert.Equal(t, 6, value(t, out, "failed"), out)
	assert.Equal(t, 4, value(t, out, "pages fetched"), out)
	assert.Contains(t, out, "1 cut at 2.9 KiB (-maxbody)")
	assert.Contains(t, out, "/hang: not finished within 1s")
	assert.Contains(t, out, "/stall: not finished within 1s")
	assert.Contains(t, out, "/error: 500 Internal Server Error")
	assert.Equal(t, 1, site.counts()["/before-limit"])
	assert.NotContains(t, site.counts(), "/after-limit")
}

func TestNobodyThere(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	site.Close()
	status, out, errOut := runCrawler(t, site.URL)
	assert.Equal(t, exitFail, status)
	assert.Contains(t, out, "not crawled:\n  "+site.URL+": its robots.txt can't be read: ")
	assert.Contains(t, errOut, "nothing was fetched")
}

func TestCancel(t *testing.T) {
	for _, test := range []struct {
		name string
		rate string
		path string // that the server is asked for when the context ends
	}{
		{"fetching", "0", "/hang"},
		{"waiting for its turn", "0.001", "/"},
		{"robots.txt", "0", "/robots.txt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == test.path {
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				switch {
				case r.URL.Path == "/hang", r.URL.Path == test.path && test.path == "/robots.txt":
					<-r.Context().Done()
				case r.URL.Path == "/robots.txt":
					http.NotFound(w, r)
				default:
					sendPage(w, "start", "/hang /1 /2 /3")
				}
			}))
			defer site.Close()

			var out, errOut bytes.Buffer
			start := time.Now()
			status := run(ctx, []string{"-rate", test.rate, "-workers", "2", site.URL}, &out, &errOut)
			assert.Equal(t, exitOK, status, errOut.String())
			assert.Less(t, time.Since(start), 3*time.Second)
			assert.Contains(t, out.String(), "\ninterrupted\n")
			assert.Equal(t, 0, value(t, out.String(), "failed"), out.String())
			assert.Contains(t, out.String(), "fill ratio")
		})
	}
}
