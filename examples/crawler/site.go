package main

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
)

//go:embed site
var siteFiles embed.FS

const letters = 3000 // in the archive

// siteHandler serves a small encyclopaedia of data structures (the folder site), an archive of
// generated letters, a redirect, and a calendar without end.
func siteHandler() http.Handler {
	files, err := fs.Sub(siteFiles, "site")
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.Handle("GET /vector", http.RedirectHandler("/array.html", http.StatusMovedPermanently))
	mux.HandleFunc("GET /calendar", func(w http.ResponseWriter, r *http.Request) {
		month, _ := strconv.Atoi(r.FormValue("month"))
		sendLinks(w, fmt.Sprintf("?month=%d", month-1), fmt.Sprintf("?month=%d#top", month+1))
	})
	mux.HandleFunc("GET /archive/{$}", func(w http.ResponseWriter, _ *http.Request) {
		links := make([]string, letters)
		for i := range links {
			links[i] = strconv.Itoa(i)
		}
		sendLinks(w, links...)
	})
	mux.HandleFunc("GET /archive/{letter}", func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.PathValue("letter"))
		links := []string{"/", "./", fmt.Sprintf("%d?", (i+1)%letters)}
		for j := range 5 {
			links = append(links, fmt.Sprintf("../archive/%d", (7*i+j*j)%letters))
		}
		sendLinks(w, links...)
	})
	return mux
}

func sendLinks(w http.ResponseWriter, links ...string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<!doctype html>\n")
	for _, link := range links {
		fmt.Fprintf(w, "<p><a href=\"%s\">%[1]s</a>\n", link)
	}
}
