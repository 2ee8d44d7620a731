package main

import (
	"embed"
	"fmt"
	"html"
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
	siteDelay = 4 * time.Millisecond // per answer, as a near server
	volumes   = 40                   // in the archive
	entries   = 80                   // per volume
)

func slow(h http.Handler, delay time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		h.ServeHTTP(w, r)
	})
}

// siteHandler serves a small encyclopaedia of data structures (the folder site), an archive of
// generated entries, redirects, and traps.
func siteHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", serveFile)
	mux.Handle("GET /vector", http.RedirectHandler("/array.html", http.StatusMovedPermanently))
	mux.Handle("GET /wiki", http.RedirectHandler("https://en.wikipedia.org/wiki/Data_structure", http.StatusFound))
	mux.HandleFunc("GET /compare", func(w http.ResponseWriter, r *http.Request) {
		a, b := url.QueryEscape(r.FormValue("a")), url.QueryEscape(r.FormValue("b"))
		sendPage(w, "Comparison", fmt.Sprintf("/ /compare?a=%s&b=%s /compare?b=%s&a=%s#table", b, a, a, b))
	})
	// Every month links to the next one, without end.
	mux.HandleFunc("GET /calendar", func(w http.ResponseWriter, r *http.Request) {
		month, err := time.Parse("2006-01", r.FormValue("month"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		sendPage(w, month.Format("January 2006"), fmt.Sprintf("/ ?month=%s ?month=%s",
			month.AddDate(0, -1, 0).Format("2006-01"), month.AddDate(0, 1, 0).Format("2006-01")))
	})
	mux.HandleFunc("GET /archive/{$}", func(w http.ResponseWriter, _ *http.Request) {
		sendPage(w, "Archive", "/"+numbered(" /archive/%d/", volumes))
	})
	mux.HandleFunc("GET /archive/{volume}/{$}", func(w http.ResponseWriter, r *http.Request) {
		sendPage(w, "Volume "+r.PathValue("volume"), "/ /archive/"+numbered(" %d", entries))
	})
	// An entry links to its neighbours and to entries of other volumes.
	mux.HandleFunc("GET /archive/{volume}/{entry}", func(w http.ResponseWriter, r *http.Request) {
		v, _ := strconv.Atoi(r.PathValue("volume"))
		e, _ := strconv.Atoi(r.PathValue("entry"))
		links := fmt.Sprintf("/ ./ ../ %d#top %d?", (e+1)%entries, (e+entries-1)%entries)
		for i := range 5 {
			links += fmt.Sprintf(" ../%d/%d", (7*v+3*e+i)%volumes, (11*e+5*v+i*i)%entries)
		}
		sendPage(w, fmt.Sprintf("Volume %d, entry %d", v, e), links)
	})
	return mux
}

// serveFile serves the folder site. $HOST in its HTML stands for the site's own address.
func serveFile(w http.ResponseWriter, r *http.Request) {
	name := "site" + r.URL.Path
	if strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	content, err := siteFiles.ReadFile(name)
	switch {
	case err != nil:
		http.NotFound(w, r)
	case path.Ext(name) == ".html":
		sendHTML(w, strings.ReplaceAll(string(content), "$HOST", r.Host))
	default:
		http.ServeFileFS(w, r, siteFiles, name)
	}
}

func numbered(format string, n int) (links string) {
	for i := range n {
		links += fmt.Sprintf(format, i)
	}
	return links
}

// sendPage sends a page with the given links, separated by spaces.
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
	_, _ = w.Write([]byte(page)) // the crawler may have hung up
}
