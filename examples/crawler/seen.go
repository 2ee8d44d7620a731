package main

import (
	"slices"
	"sync"

	"github.com/seed3447c163/bloom"
)

// A seenSet knows which URLs were found before. The filter alone decides; the
// audit, if there is one, only watches.
type seenSet struct {
	filter filter
	audit  *audit
}

// A filter is a [bloom.BloomFilter], or with -state one that lives in a file.
type filter interface {
	AddString(key string) bool
	ContainsString(key string) bool
	Stats() bloom.Stats
}

// add returns true if the URL is definitely new and this call is the one that
// added it, false if it was probably found before. It is safe for concurrent use
// by multiple goroutines.
func (s *seenSet) add(url string) bool {
	added := s.filter.AddString(url)
	if s.audit != nil {
		s.audit.record(url, added)
	}
	return added
}

// An audit is an exact set that keeps, for each URL that was offered to the
// filter, how many of the offers the filter called new.
//
// One call can't be judged by itself: of two workers that offer the same new URL
// at the same time, one may come first at the filter and the other at the exact
// set, and both would look wrong. The counts don't depend on who came first, so
// they are compared when all workers have ended:
//
//	0  a false positive: new once, but the filter never said so
//	1  right
//	2  a miss: the filter forgot the URL and had it fetched twice
type audit struct {
	mu   sync.Mutex
	wins map[string]int
}

func (a *audit) record(url string, added bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.wins[url]
	if added {
		n++
	}
	a.wins[url] = n
}

// differences returns, sorted, the URLs that the filter took for seen though they
// never were, and those that it forgot, which must not happen. No add may run at
// the same time.
func (s *seenSet) differences() (falsePositives, misses []string) {
	for url, wins := range s.audit.wins {
		switch {
		case wins > 1 || !s.filter.ContainsString(url):
			misses = append(misses, url)
		case wins == 0:
			falsePositives = append(falsePositives, url)
		}
	}
	slices.Sort(falsePositives)
	slices.Sort(misses)
	return falsePositives, misses
}
