package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
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

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	child.Main(m, map[string]func([]string) error{"crawl": func(args []string) error {
		child.EndWithTest()
		c, err := crawl(context.Background(), args[0], 10_000, 4, args[1])
		if err == nil && c.pages[waiting] > 0 {
			err = errors.New("pages wait")
		}
		return err
	}})
}

// crawl crawls without pauses.
func crawl(ctx context.Context, path string, n uint64, depth uint, starts ...string) (*crawler, error) {
	c, err := newCrawler(path, n, depth, 0, starts)
	if err == nil {
		c.hosts.Range(func(_, h any) bool { h.(*host).client.RetryWaitMin = time.Millisecond; return true })
		err = c.crawl(ctx)
		c.close()
	} else if c != nil && c.file != nil {
		c.close()
	}
	return c, err
}

// A server counts the requests by their URLs.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int
	now      atomic.Int32 // requests under way
	overlaps atomic.Int32 // requests that came while another one was under way
}

func serve(t *testing.T, h http.Handler) *server {
	s := &server{requests: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.now.Add(1) > 1 {
			s.overlaps.Add(1)
		}
		defer s.now.Add(-1)
		s.mu.Lock()
		s.requests[r.RequestURI]++
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func links(hrefs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for _, href := range hrefs {
			fmt.Fprintf(w, "<a href='%s'>", href)
		}
	}
}

func queueOf(t *testing.T) string { return filepath.Join(t.TempDir(), "queue") }

// logged returns what f logs.
func logged(f func()) string {
	var lines bytes.Buffer
	log.SetOutput(&lines)
	defer log.SetOutput(os.Stderr)
	f()
	return lines.String()
}

// TestBuiltInSite: every page that may be fetched is fetched exactly once.
func TestBuiltInSite(t *testing.T) {
	files, err := fs.Sub(site, "site")
	require.NoError(t, err)
	s := serve(t, http.FileServerFS(files))
	c, err := crawl(t.Context(), queueOf(t), 1000, 8, s.URL)
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
	require.Equal(t, want, s.requests)
	require.Equal(t, bloom.MapHash, c.seen.Scheme().Hash())
	require.NotContains(t, c.summary(), "outgrown")
	require.Equal(t, 1, c.pages[failed], "rope")
	require.Equal(t, 1, c.pages[forbidden], "a draft")
	c, err = crawl(t.Context(), queueOf(t), 10, 8, s.URL)
	require.NoError(t, err)
	require.Contains(t, c.summary(), "The crawl has outgrown the filter")
}

// TestLinks: the crawler asks for what a browser asks for, byte for byte, or logs why it does not.
func TestLinks(t *testing.T) {
	const latin, utf16, xhtml, none, html = "text/html; charset=iso-8859-1", "text/html; charset=utf-16le", "application/xhtml+xml", "", "text/html; charset=utf-8"
	for _, c := range [][3]string{ // type, href or page, target
		{html, "/a?x=1;y=2", "/a?x=1;y=2"}, {html, "/b?q=100%", "/b?q=100%"}, {html, "/c?q=a%zz", "/c?q=a%zz"},
		{html, "/d%zz", "/d%zz"}, {html, "//HOST//d%", "//d%"}, {html, "/e?flag", "/e?flag"}, {html, "/e?flag=", "/e?flag="},
		{html, "/f?b=2&amp;a=1", "/f?b=2&a=1"}, {html, "/g//h", "/g//h"}, {html, "/q?ü", "/q?%C3%BC"}, {html, "/o%3bv", "/o%3bv"},
		{html, "/t\ta\nb", "/tab"}, {html, `\s\t`, "/s/t"}, {html, `/v?q="x y"`, "/v?q=%22x%20y%22"}, {html, "/w#a?b", "/w"},
		{html, "/x/%2e%2E/./y", "/y"}, {html, " /z ", "/z"}, {html, "/é", "/%C3%A9"}, {html, "//HOST/r", "/r"}, {html, "HTTP:rel", "/rel"},
		{html, "/p|[]", "/p|[]"}, {html, "/%2F%41", "/%2F%41"}, {html, "/a+b%20c?d+e%20f", "/a+b%20c?d+e%20f"}, {html, "?", "/?"},
		{html, "http://user:word@HOST/u", "/u"}, {html, "?q", "/?q"}, {html, "../../up", "/up"}, {html, "/\\/b", ""},
		{html, "<base href='/sub/'><base href='/no/'><a href=y>", "/sub/y"}, {html, "<map><area href='/area'></map>", "/area"},
		{html, "<base href='data:x'><a href=y2>", "/y2"}, {html, "<A HREF=/upper>", "/upper"}, {html, "<a href='/cut'", ""},
		{latin, "/caf\xe9?caf\xe9&\xa4&#1234;#\xe9", "/caf%C3%A9?caf%E9&%A4%26%231234%3B"},
		{"text/html; charset=shift_jis", "/?\x93\xfa", "/?%93%FA"}, {"text/html", "<meta charset=iso-8859-1><a href='/m?\xe9'>", "/m?%E9"},
		{utf16, "<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00/\x00u\x00?\x00\xe9\x00>\x00", "/u?%C3%A9"}, {none, "/none", "/none"},
		{xhtml, "<html><head><title/><script src='s'/></head><body><a href='/xh'/></body></html>", "/xh"}, {"TEXT/HTML;x", "/type", "/type"},
		{"text/plain", "/plain", ""}, {html, "<a href=/n rel='noopener NoFollow'>", ""}, {html, "<!-- <a href=/comment> -->", ""},
		{html, "mailto:a@b", ""}, {html, "http://other.invalid/", ""}, {html, "http://[::1", "log"}, {html, "http://a b/", "log"},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		page := strings.ReplaceAll(c[1], "HOST", listener.Addr().String())
		if !strings.Contains(page, "<") {
			page = "<a href='" + page + "'>"
		}
		var targets []string
		served := make(chan bool)
		go func() { // a http.Server refuses some of the requests
			defer close(served)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				line, _ := bufio.NewReader(conn).ReadString('\n')
				target := strings.TrimPrefix(strings.Fields(line)[1], "http://"+listener.Addr().String())
				targets = append(targets, target)
				body, kind := "", "Content-Type: "+c[0]+"\r\n"
				if target == "/" {
					body = page
				}
				if c[0] == "" {
					kind = ""
				}
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body)
				conn.Close()
			}
		}()
		said := logged(func() { _, err = crawl(t.Context(), queueOf(t), 1000, 8, "http://"+listener.Addr().String()) })
		require.NoError(t, err)
		listener.Close()
		<-served
		want := []string{"/robots.txt", "/", c[2]}
		if c[2] == "" || c[2] == "log" {
			want = want[:2]
		}
		require.Equal(t, want, targets, "%q", c)
		require.Equal(t, c[2] == "log", strings.Contains(said, "not followed"), "%q: %s", c, said)
	}
}

// TestDepth: the depth of a page is the smallest, redirects cost no click, and a loop of them ends.
func TestDepth(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/{$}", links("/slow", "/1", "/loop?i=0", "/calendar?month=1"))
	mux.Handle("/slow", http.RedirectHandler("/slow2", http.StatusFound))
	mux.Handle("/slow2", http.RedirectHandler("/slow3", http.StatusMovedPermanently))
	mux.Handle("/slow3", links("/page"))
	mux.Handle("/1", links("/2"))
	mux.Handle("/2", links("/page"))
	mux.Handle("/page", links("/child"))
	mux.Handle("/child", links("/too-deep"))
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.FormValue("i"))
		http.Redirect(w, r, fmt.Sprintf("/loop?i=%d", i+1), http.StatusFound)
	})
	mux.HandleFunc("/calendar", func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.FormValue("month"))
		links(fmt.Sprintf("?month=%d", i-1), fmt.Sprintf("?month=%d", i+1))(w, r)
	})
	s, path := serve(t, mux), queueOf(t)
	c, err := crawl(t.Context(), path, 1000, 3, s.URL)
	require.NoError(t, err)
	require.Equal(t, 1, s.requests["/child"])
	require.Zero(t, s.requests["/too-deep"])
	require.Equal(t, 1, c.pages[failed], "the loop")
	require.Zero(t, s.overlaps.Load(), "requests to a host at the same time") // answers are small: they end with the handler
	require.Len(t, s.requests, 1+1+7+1+maxHops+5, "robots.txt, the start, slow to child, the loop, five months")

	// A crawl that goes on after any line of the queue file ends in the same way.
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	for n := range lines {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:n], "")+lines[n][:len(lines[n])/2]), 0o600))
		again, err := crawl(t.Context(), path, 1000, 3, s.URL)
		require.NoError(t, err)
		require.Equal(t, c.progress(), again.progress(), "after %d lines", n)
	}
}

// TestStartRedirects: the start page is followed to another host, other pages are not.
func TestStartRedirects(t *testing.T) {
	other := serve(t, links())
	www := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/outside" {
			http.Redirect(w, r, other.URL, http.StatusMovedPermanently)
		}
		links("/inside", "/outside")(w, r)
	}))
	bare := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Location", www.URL+"/?a;%zz")
			w.WriteHeader(http.StatusMovedPermanently)
		}
	}))
	path := queueOf(t)
	said := logged(func() {
		_, err := crawl(t.Context(), path, 1000, 8, bare.URL)
		require.NoError(t, err)
	})
	require.Contains(t, said, "redirects to "+www.URL)
	require.Equal(t, map[string]int{"/robots.txt": 1, "/?a;%zz": 1, "/inside": 1, "/outside": 1}, www.requests)
	require.Empty(t, other.requests)
	_, err := crawl(t.Context(), path, 1000, 8, bare.URL)
	require.NoError(t, err, "the file has the other host")
}

// TestRobots: rules hold for the URL as it is asked for. robots.txt may have moved up to five times. If it cannot be
// read, the pages wait.
func TestRobots(t *testing.T) {
	for robots, want := range map[string]struct{ status, moves, pages, waiting, forbidden int }{
		"User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n": {200, 0, 0, 0, 1},
		"User-agent: *\nDisallow: /q?b=\n":                                     {200, 0, 1, 0, 1},
		"User-agent: *\nDisallow: /q?a=\n":                                     {200, 5, 2, 0, 0},
		"User-agent: *\nDisallow: /q\n":                                        {200, 5, 1, 0, 1},
		"User-agent: *\nDisallow: /q#6\n":                                      {200, 6, 0, 1, 0},
		"busy":                                                                 {503, 0, 0, 1, 0},
		"too many":                                                             {429, 0, 0, 1, 0},
		"none":                                                                 {404, 0, 2, 0, 0},
		strings.Repeat("#", maxBody) + "\nUser-agent: *\nDisallow: /\n": {200, 0, 2, 0, 0}, // or a server could fill the memory
	} {
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/rules"))
			switch {
			case r.URL.Path != "/robots.txt" && err != nil:
				links("/q?b=1&amp;a=2")(w, r)
			case at < want.moves:
				http.Redirect(w, r, fmt.Sprint("/rules", at+1), http.StatusMovedPermanently)
			default:
				w.WriteHeader(want.status)
				io.WriteString(w, robots)
			}
		}))
		c, err := crawl(t.Context(), queueOf(t), 100, 8, s.URL)
		require.NoError(t, err)
		require.Equal(t, []int{want.pages, want.waiting, want.forbidden}, []int{c.pages[fetched], c.pages[waiting], c.pages[forbidden]}, robots[:4])
	}
}
