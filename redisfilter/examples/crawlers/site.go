package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A site has a number of pages, each with links to many others, and counts how often
// each was fetched.
type site struct {
	server  *http.Server
	addr    string
	fetched []atomic.Int32
}

// siteDelay is how long a page takes.
const siteDelay = 5 * time.Millisecond

func startSite(pages int) (*site, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{addr: l.Addr().String(), fetched: make([]atomic.Int32, pages)}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go s.server.Serve(l)
	return s, nil
}

func (s *site) close() { s.server.Close() }

func (s *site) url(i int) string { return fmt.Sprintf("http://%s/%d", s.addr, i) }

// ServeHTTP answers with the links of page i: to 2i+1 and 2i+2, so that every page
// can be reached, and to twenty more.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || i < 0 || i >= len(s.fetched) {
		http.NotFound(w, r)
		return
	}
	s.fetched[i].Add(1)
	time.Sleep(siteDelay)
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

// count returns how many pages were fetched once, how many were not, but are reported, and how
// many were not and are not.
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
