package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A site has pages with links to others, and counts how often each page was fetched.
type site struct {
	server  *httptest.Server
	fetched []atomic.Int32
}

func startSite(pages int) *site {
	s := &site{fetched: make([]atomic.Int32, pages)}
	s.server = httptest.NewServer(s)
	return s
}

func (s *site) url(i int) string { return fmt.Sprintf("%s/%d", s.server.URL, i) }

// ServeHTTP answers with the links of page i: to 2i+1 and 2i+2, so that every page
// can be reached, and to twenty more.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || i < 0 || i >= len(s.fetched) {
		http.NotFound(w, r)
		return
	}
	s.fetched[i].Add(1)
	time.Sleep(5 * time.Millisecond) // like a real page
	for link := 1; link <= 22; link++ {
		to := 2*i + link
		if link > 2 {
			to = (i*31 + link*link*97) % len(s.fetched)
		}
		if to < len(s.fetched) {
			fmt.Fprintln(w, s.url(to))
		}
	}
}

// count returns how many pages were fetched once, and how many of the other pages were reported and not reported.
func (s *site) count(unsure map[string]bool) (once, reported, silent int) {
	for i := range s.fetched {
		switch {
		case s.fetched[i].Load() == 1:
			once++
		case unsure[s.url(i)]:
			reported++
		default:
			silent++
		}
	}
	return once, reported, silent
}
