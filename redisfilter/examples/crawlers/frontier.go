package main

import "sync"

// A frontier has the pages that are to be fetched. It is in memory: no failure of Redis concerns it.
type frontier struct {
	mu      sync.Mutex
	changed *sync.Cond
	urls    []string
	fetched int             // pages that a crawler was given and has not reported yet
	unsure  map[string]bool // pages that may be fetched twice
}

func newFrontier(start string) *frontier {
	f := &frontier{urls: []string{start}, unsure: make(map[string]bool)}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// next gives a page to a crawler, or "" when all are done.
func (f *frontier) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.urls) == 0 && f.fetched > 0 {
		f.changed.Wait()
	}
	if len(f.urls) == 0 {
		return ""
	}
	url := f.urls[0]
	f.urls = f.urls[1:]
	f.fetched++
	return url
}

// report ends a page that next has given, with the new links on it.
func (f *frontier) report(links []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetched--
	f.urls = append(f.urls, links...)
	f.changed.Broadcast()
}

// doubt notes pages that another crawler may be told to fetch, too.
func (f *frontier) doubt(urls []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, url := range urls {
		f.unsure[url] = true
	}
}
