package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed site
var siteFiles embed.FS

const (
	// siteDelay is how long the built-in site takes to answer: as a near server
	// does, and so that there is something for eight workers to do.
	siteDelay = 4 * time.Millisecond

	volumes = 40 // of the archive
	entries = 80 // in a volume
)

// A localSite is the built-in site, being served.
type localSite struct {
	start  target
	server *http.Server
	served chan error
}

// startSite serves the built-in site on a free port of the loopback interface.
func startSite() (*localSite, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	start, err := resolve(&url.URL{}, "http://"+listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &localSite{
		start: start,
		server: &http.Server{
			Handler:           slow(siteHandler(), siteDelay),
			ReadHeaderTimeout: 10 * time.Second,
		},
		served: make(chan error, 1),
	}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

// close stops serving.
func (s *localSite) close() error {
	// The crawler is done, so there is nobody to wait for but a request that
	// Ctrl-C cut off.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func slow(h http.Handler, delay time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		h.ServeHTTP(w, r)
	})
}

// siteHandler is a small encyclopaedia of data structures (the folder site), an
// archive of some thousand generated entries, and what else real sites have.
func siteHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", serveFile)
	mux.Handle("GET /vector", http.RedirectHandler("/array.html", http.StatusMovedPermanently))
	mux.Handle("GET /wiki", http.RedirectHandler("https://en.wikipedia.org/wiki/Data_structure", http.StatusFound))
	mux.HandleFunc("GET /compare", serveComparison)
	mux.HandleFunc("GET /calendar", serveCalendar)
	mux.HandleFunc("GET /archive/{volume}/{entry}", serveEntry)
	mux.HandleFunc("GET /archive/{volume}/{$}", serveVolume)
	mux.HandleFunc("GET /archive/{$}", serveArchive)
	return mux
}

// serveFile serves the folder site. In its HTML, $HOST is the site's own address,
// for absolute links.
func serveFile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	content, err := fs.ReadFile(siteFiles, "site/"+name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if path.Ext(name) != ".html" {
		w.Header().Set("Content-Type", cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream"))
		send(w, string(content))
		return
	}
	sendHTML(w, strings.ReplaceAll(string(content), "$HOST", r.Host))
}

func serveComparison(w http.ResponseWriter, r *http.Request) {
	a, b := url.QueryEscape(r.FormValue("a")), url.QueryEscape(r.FormValue("b"))
	sendPage(w, "Comparison", fmt.Sprintf("/ /compare?a=%s&b=%s /compare?b=%s&a=%s#table", b, a, a, b))
}

// serveCalendar is a trap: every month links to the next, for ever.
func serveCalendar(w http.ResponseWriter, r *http.Request) {
	month, err := time.Parse("2006-01", r.FormValue("month"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	sendPage(w, month.Format("January 2006"), fmt.Sprintf("/ ?month=%s ?month=%s",
		month.AddDate(0, -1, 0).Format("2006-01"), month.AddDate(0, 1, 0).Format("2006-01")))
}

func serveArchive(w http.ResponseWriter, _ *http.Request) {
	links := "/"
	for v := range volumes {
		links += fmt.Sprintf(" /archive/%d/", v)
	}
	sendPage(w, "Archive", links)
}

func serveVolume(w http.ResponseWriter, r *http.Request) {
	v, ok := number(r, "volume", volumes)
	if !ok {
		http.NotFound(w, r)
		return
	}
	links := "/ /archive/"
	for e := range entries {
		links += fmt.Sprintf(" /archive/%d/%d", v, e)
	}
	sendPage(w, fmt.Sprintf("Volume %d", v), links)
}

// serveEntry links an entry to its neighbours and, across the volumes, to others
// that look picked at random and are the same every time.
func serveEntry(w http.ResponseWriter, r *http.Request) {
	v, ok1 := number(r, "volume", volumes)
	e, ok2 := number(r, "entry", entries)
	if !ok1 || !ok2 {
		http.NotFound(w, r)
		return
	}
	links := fmt.Sprintf("/ ./ ../ %d#top %d?", (e+1)%entries, (e+entries-1)%entries)
	for i := range 5 {
		links += fmt.Sprintf(" ../%d/%d", (7*v+3*e+i)%volumes, (11*e+5*v+i*i)%entries)
	}
	sendPage(w, fmt.Sprintf("Volume %d, entry %d", v, e), links)
}

func number(r *http.Request, name string, limit int) (int, bool) {
	n, err := strconv.Atoi(r.PathValue(name))
	return n, err == nil && n >= 0 && n < limit
}

// sendPage sends a generated page with space-separated links.
func sendPage(w http.ResponseWriter, title, links string) {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<title>%s</title>\n<h1>%[1]s</h1>\n", title)
	for l := range strings.FieldsSeq(links) {
		fmt.Fprintf(&b, "<p><a href=\"%s\">%[1]s</a>\n", html.EscapeString(l))
	}
	sendHTML(w, b.String())
}

func sendHTML(w http.ResponseWriter, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	send(w, page)
}

// send writes a whole answer. If the crawler hung up, there is nobody to tell.
func send(w http.ResponseWriter, body string) {
	_, _ = w.Write([]byte(body))
}
