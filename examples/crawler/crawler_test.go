package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"math/rand/v2"
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
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	pause = time.Millisecond
	child.Main(m, map[string]func([]string) error{"crawl": func([]string) error {
		child.EndWithTest()
		main()
		return nil
	}})
}

// crawl crawls without pauses, up to three clicks away.
func crawl(ctx context.Context, path string, n uint64, start string) (*crawler, error) {
	c, err := newCrawler(path, n, 3, 0, []string{start})
	if c != nil {
		defer c.close()
	}
	if err == nil {
		err = c.crawl(ctx)
	}
	return c, err
}

// A server counts the requests by their targets.
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

// pages has answers by targets: the text of a page or robots.txt, a status with its Location or Retry-After, or "away".
// LOCAL is the server by another name. A page that begins with "cut" is not sent to its end.
type pages map[string]string

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, port, _ := net.SplitHostPort(r.Host)
	text := strings.ReplaceAll(p[r.RequestURI], "LOCAL", "localhost:"+port)
	word, header, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(word)
	switch {
	case text == "away":
		panic(http.ErrAbortHandler)
	case text == "":
		http.NotFound(w, r)
	case err == nil:
		w.Header()["Location"], w.Header()["Retry-After"] = []string{header}, []string{header}
		w.WriteHeader(status)
	default:
		if w.Header().Set("Content-Type", "text/html; charset=utf-8"); word == "cut" {
			w.Header().Set("Content-Length", "1000000")
		}
		fmt.Fprint(w, text)
	}
}

// links returns a page.
func links(hrefs ...any) string {
	return fmt.Sprintf(strings.Repeat("<a href='%v'>", len(hrefs)), hrefs...)
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
	c, err := crawl(t.Context(), queueOf(t), 1000, s.URL)
	require.NoError(t, err)
	want := map[string]int{"/index.html": 1, "/trees": 1, "/rope.html": 1, // two redirects and a dead link
		"/glossary.html?a=hash-table&b=trie": 1, "/trees/b-tree.html?print=yes": 1}
	require.NoError(t, fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() && path != "sponsor.html" && !strings.HasPrefix(path, "drafts/") { // nofollow, robots.txt
			want["/"+strings.TrimSuffix(path, "index.html")] = 1
		}
		return err
	}))
	require.Equal(t, want, s.requests)
	require.Equal(t, bloom.MapHash, c.seen.Scheme().Hash())
	require.NotContains(t, c.summary(), "outgrown")
	c, err = crawl(t.Context(), queueOf(t), 10, s.URL)
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
		said := logged(func() { _, err = crawl(t.Context(), queueOf(t), 1000, "http://"+listener.Addr().String()) })
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

// TestSites: each site is crawled to its end, also by a crawl that goes on after any part of the queue file.
func TestSites(t *testing.T) {
	deep := pages{ // the depth of a page is the smallest, redirects cost no click, and a loop of them ends
		"/": links("/slow", "/1", "/loop0", "/month0"), "/slow": "302 /slow2", "/slow2": "301 /slow3", "/slow3": links("/page"),
		"/1": links("/2"), "/2": links("/page"), "/page": links("/child"), "/child": links("/too-deep"), "/too-deep": "Deep.",
	}
	away := []pages{{}, {}, {}}
	for i := range 20 {
		deep[fmt.Sprint("/loop", i)] = fmt.Sprint("302 /loop", i+1)
		deep[fmt.Sprint("/month", i-10)] = links(fmt.Sprint("/month", i-11), fmt.Sprint("/month", i-9))
		for kind, answer := range []string{"away", "429 3600", "503 61"} {
			away[kind]["/"] += links(fmt.Sprint("/", i))
			away[kind][fmt.Sprint("/", i)] = answer
		}
	}
	blanks := strings.Repeat(" ", maxBody)
	rules := func(text string, moves int) pages { // robots.txt may have moved up to five times
		p, names := pages{"/": links("/q?b=1&amp;a=2"), "/q?b=1&a=2": "Found."}, strings.Fields("/robots.txt /1 /2 /3 /4 /5 /6")
		for i := range moves {
			p[names[i]] = "301 " + names[i+1]
		}
		p[names[moves]] = text
		return p
	}
	type counts [5]int // pages fetched, fetched in part, forbidden, failed, waiting
	for _, c := range []struct {
		pages pages
		want  counts
		log   []string
	}{
		{deep, counts{1 + 7 + maxHops + 5, 0, 0, 1, 0}, []string{"/loop10: failed: more than 10 redirects"}},
		{pages{"/": "301 http://LOCAL/?a;%zz", "/?a;%zz": links("/inside", "/outside"), "/inside": "Here.", "/outside": "301 http://other.invalid/"},
			counts{4, 0, 0, 0, 0}, []string{"redirects to http://localhost:"}}, // only start pages lead to other hosts
		{pages{"/": links("/whole", "/larger", "/private", "/gone", "/deep"), "/deep": strings.Repeat("<div>", 1000), "/1": "First.", "/2": "Second.",
			"/whole": links("/1") + blanks[len(links("/1")):], "/larger": links("/2") + blanks[2*len(links("/2"))-1:] + links("/3"), "/robots.txt": "User-agent: *\nDisallow: /private"},
			counts{4, 1, 1, 2, 0}, []string{"/larger: fetched in part: only the links in the first 4 MiB are followed",
				"/private: forbidden: robots.txt", "/gone: failed: 404 Not Found", "/deep: failed: html"}},
		{away[0], counts{1, 0, 0, 0, 20}, []string{"EOF; host left alone for this run: true"}},
		{away[1], counts{1, 0, 0, 0, 20}, []string{"/0: waits: 429 Too Many Requests; host left alone for this run: true"}},
		{away[2], counts{1, 0, 0, 0, 20}, []string{"/0: waits: 503 Service Unavailable; host left alone for this run: true"}},
		{rules("User-agent: *\nDisallow:\n\nUser-agent: Bloom-Crawler\nDisallow: /\n", 0), counts{0, 0, 1, 0, 0}, []string{"/: forbidden"}},
		// The rules of robots.txt apply to the URL as it is asked for.
		{rules("User-agent: *\nDisallow: /q?b=\n", 0), counts{1, 0, 1, 0, 0}, []string{"a=2: forbidden"}},
		{rules("User-agent: *\nDisallow: /q?a=\n", 5), counts{2, 0, 0, 0, 0}, nil},
		{rules("User-agent: *\nDisallow: /q\n", 5), counts{1, 0, 1, 0, 0}, []string{"a=2: forbidden"}},
		{rules("Moved.", 6), counts{0, 0, 0, 0, 1}, []string{"waits: robots.txt"}},
		{rules("503 0", 0), counts{0, 0, 0, 0, 1}, []string{"waits: robots.txt: waits: 503"}},
		{rules("429 0", 0), counts{0, 0, 0, 0, 1}, []string{"waits: robots.txt: waits: 429"}},
		{rules("404 0", 0), counts{2, 0, 0, 0, 0}, nil},
		// The rest of a long robots.txt is not read, or a server could fill the memory.
		{rules(strings.Repeat("#", maxBody)+"\nUser-agent: *\nDisallow: /\n", 0), counts{2, 0, 0, 0, 0}, nil},
	} {
		var back atomic.Bool
		s, path := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p := c.pages[r.RequestURI]; back.Load() && !strings.HasPrefix(p, "<") {
				pages{r.RequestURI: "Back."}.ServeHTTP(w, r)
			} else {
				c.pages.ServeHTTP(w, r)
			}
		})), queueOf(t)
		crawl := func() counts {
			c, err := crawl(t.Context(), path, 1000, s.URL)
			require.NoError(t, err)
			return counts{c.pages[fetched], c.pages[partly], c.pages[forbidden], c.pages[failed], c.pages[waiting]}
		}
		said := logged(func() { require.Equal(t, c.want, crawl()) })
		for _, line := range c.log {
			require.Contains(t, said, line)
		}
		if c.want[4] == 0 {
			require.Equal(t, len(c.log), strings.Count(said, "\n"), said)
			for target, n := range s.requests {
				require.True(t, n == 1 || target == "/robots.txt", "%s: %d requests", target, n) // LOCAL has a robots.txt, too
			}
		}
		if c.want[1] == 0 { // after a large answer, its handler may be late
			require.Zero(t, s.overlaps.Load(), "requests to a host at the same time")
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := strings.SplitAfter(string(text), "\n")
		for n := range lines {
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:n], "")+lines[n][:len(lines[n])/2]), 0o600))
			logged(func() { require.Equal(t, c.want, crawl(), "after %d lines", n) })
		}
		if c.want[4] > 0 {
			back.Store(true)
			require.Zero(t, crawl()[4], "pages that wait are fetched when the site is back")
		}
	}
}

// A wood is a site whose pages have links to ten pages. Half of them fail at the first try, each in one of five ways.
type wood struct {
	pages int
	mu    sync.Mutex
	tries map[int]int
	times map[int]int  // whole answers
	left  atomic.Int64 // answers until outage; then none
}

func (w *wood) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, err := strconv.Atoi(r.URL.Path[1:])
	text := ""
	switch {
	case w.left.Add(-1) < 0:
		panic(http.ErrAbortHandler)
	case err == nil && w.tries[i] == 0 && i%10 < 5:
		text = []string{"429 0", "503", "500", "away", "cut " + links("/cut")}[i%10]
	case err == nil: // otherwise it is robots.txt
		text = links(w.linksOf(i)...)
		w.times[i]++
	}
	w.tries[i]++
	pages{r.RequestURI: text}.ServeHTTP(answer, r)
}

func (w *wood) linksOf(i int) []any {
	random, all := rand.New(rand.NewPCG(uint64(i), 0)), []any{i, 0}
	for range 8 {
		all = append(all, random.IntN(w.pages))
	}
	return all
}

// TestKills kills a crawl again and again. In between, the site goes away until the crawl gives up. All pages are
// fetched that are near enough. Each is served once, but for those that the kills interrupt.
func TestKills(t *testing.T) {
	const kills, outages, many = 20, 5, 1 << 30
	w := &wood{pages: testkit.Times(1000, 3000, 3000), tries: map[int]int{}, times: map[int]int{}}
	s, path, random := serve(t, w), queueOf(t), rand.New(rand.NewPCG(1, 0))
	known := map[any]bool{0: true}
	for range 4 { // clicks
		for i := range maps.Clone(known) {
			for _, link := range w.linksOf(i.(int)) {
				known[link] = true
			}
		}
	}
	some := 2 * len(known) / (kills + outages)
	start := func(answers int) *child.Process {
		w.left.Store(int64(answers))
		return child.Start(t, "crawl", "-queue", path, "-n", "10000", "-depth", "4", "-delay", "0", s.URL+"/0")
	}
	for range outages {
		for range kills / outages {
			p := start(many)
			for until := int64(many - 1 - random.IntN(some)); w.left.Load() > until; time.Sleep(time.Millisecond / 10) {
			}
			require.NoError(t, p.Process.Kill())
			_ = p.Wait()
			for s.now.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
		}
		p, said := start(1+random.IntN(some/2)), ""
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			said = line
		}
		_ = p.Wait()
		require.Equal(t, 1, p.ProcessState.ExitCode())
		require.Equal(t, "With -queue FILE, the same command goes on.", said)
		require.Contains(t, p.Errors(), "left alone for this run: true")
	}
	for range 2 { // the second one finds nothing to do
		start(many).Finish(t)
		w.mu.Lock()
		times := len(w.times)
		w.mu.Unlock()
		require.Equal(t, len(known), times)
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

// TestQueueRefuses: a queue file is not mixed with another crawl, used by two, or taken for one if it is none.
func TestQueueRefuses(t *testing.T) {
	s, path := serve(t, pages{"/": links("/1")}), queueOf(t)
	refused := func(want, path, start string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		_, err := crawl(t.Context(), path, 100, start)
		require.ErrorContains(t, err, want)
		after, _ := os.ReadFile(path)
		require.Equal(t, string(before), string(after))
	}
	_, err := crawl(t.Context(), path, 100, s.URL)
	require.NoError(t, err)
	refused("queue is the queue of another crawl", path, s.URL+"/x")
	refused("directory", t.TempDir(), s.URL)
	for _, start := range []string{"ftp://example.org/", "http://[::1", "example.org"} {
		refused(start, path, start)
	}
	c, err := newCrawler(path, 100, 4, 0, []string{s.URL})
	require.ErrorContains(t, err, "another crawl", "another depth")
	c.close()
	c, err = newCrawler(path, 100, 3, 0, []string{s.URL})
	require.NoError(t, err)
	refused("queue.lock is locked by another crawler", path, s.URL)
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
		refused(want, path, s.URL)
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
		pages{"/": links("/hang")}.ServeHTTP(w, r)
	}))
	c, err := crawl(ctx, queueOf(t), 100, s.URL)
	require.NoError(t, err)
	require.Equal(t, 1, c.pages[waiting])
	c, err = newCrawler(queueOf(t), 100, 3, 0, []string{s.URL})
	require.NoError(t, err)
	c.close()
	require.ErrorIs(t, c.crawl(t.Context()), os.ErrClosed)
	c.file, err = os.Create(queueOf(t)) // there is room again
	require.NoError(t, err)
	require.ErrorIs(t, c.finish(page{}, nil), os.ErrClosed)
	require.NoError(t, c.file.Close())
	require.Equal(t, 1, c.pages[waiting])
}
