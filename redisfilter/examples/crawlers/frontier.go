package main

import (
	"net"
	"net/rpc"
	"sync"
)

// A Frontier has the pages that are to be fetched; the processes call it by net/rpc. It is in
// the memory of the program that leads them: no failure of Redis concerns it.
type Frontier struct {
	mu      sync.Mutex
	changed *sync.Cond
	urls    []string
	given   int // URLs that a process was given
	done    int // of them, those of which it has reported
	unsure  map[string]bool
}

// A Report is what a process says of a page. The first one of each goroutine is empty.
type Report struct {
	Page   string
	New    []string // the links on it that are to be fetched
	Unsure []string // of these, those that another process may be told to fetch, too
}

func newFrontier(start string) *Frontier {
	f := &Frontier{urls: []string{start}, unsure: make(map[string]bool)}
	f.changed = sync.NewCond(&f.mu)
	return f
}

func (f *Frontier) listen() (net.Listener, error) {
	server := rpc.NewServer()
	if err := server.Register(f); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go server.ServeConn(conn)
		}
	}()
	return l, nil
}

// Next takes a report and gives the next page, or "" when all are done.
func (f *Frontier) Next(r Report, page *string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.urls = append(f.urls, r.New...)
	for _, url := range r.Unsure {
		f.unsure[url] = true
	}
	if r.Page != "" {
		f.done++
	}
	f.changed.Broadcast()
	for len(f.urls) == 0 && f.done < f.given {
		f.changed.Wait()
	}
	if len(f.urls) > 0 {
		*page, f.urls = f.urls[0], f.urls[1:]
		f.given++
	}
	return nil
}
