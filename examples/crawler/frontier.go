package main

import "sync"

// A page is a URL that was found and waits to be fetched.
type page struct {
	target
	depth int   // clicks away from a start URL
	id    int64 // in the log of a state
}

// A frontier is the queue of pages to fetch, level by level: no page is handed out
// before all that are a click nearer to the start are finished.
//
// Otherwise a URL could be found at the end of a long but fast chain of pages
// first and in a near but slow page later, and the depth limit would cut off what
// is near enough. An exact set could keep the depth and correct it; a filter has
// only "seen". The price is that a slow page holds up its level, at most for the
// timeout of a request.
//
// The queue has no bound: the workers both fill and empty it, and if all of them
// waited for room, nobody would make any. All methods are safe for concurrent use
// by multiple goroutines.
type frontier struct {
	mu      sync.Mutex
	changed sync.Cond // the answer of pop may have changed
	level   []page    // being handed out
	next    []page    // further away: one click, or more if an earlier crawl has left them
	taken   int       // pages that pop has handed out
	done    int       // pages of those that are finished
	limit   int       // pages that pop hands out at most, 0 for any number
	closed  bool
}

func newFrontier(limit int) *frontier {
	q := &frontier{limit: limit}
	q.changed.L = &q.mu
	return q
}

// push adds a start page, one that a page from pop links to, or one that an earlier
// crawl has left.
func (q *frontier) push(p page) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = append(q.next, p)
}

// pop waits for a page to fetch. It returns false if there will be none: the
// queue is empty and no page is being fetched that could have links, the limit is
// reached, or close was called. After true the caller must push the page's links,
// then call finish.
func (q *frontier) pop() (page, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.ended() && len(q.level) == 0 && q.done < q.taken {
		q.changed.Wait()
	}
	if q.ended() {
		return page{}, false
	}
	if len(q.level) == 0 {
		q.level, q.next = nearest(q.next)
	}
	if len(q.level) == 0 {
		return page{}, false
	}
	p := q.level[0]
	q.level = q.level[1:]
	q.taken++
	return p, true
}

// nearest splits off the pages that are the fewest clicks away.
func nearest(pages []page) (near, far []page) {
	for _, p := range pages {
		if len(near) > 0 && p.depth < near[0].depth {
			near, far = nil, append(far, near...)
		}
		if len(near) == 0 || p.depth == near[0].depth {
			near = append(near, p)
		} else {
			far = append(far, p)
		}
	}
	return near, far
}

// finish says that a page from pop is done with and will add no more links.
func (q *frontier) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done++
	if q.done == q.taken {
		q.changed.Broadcast()
	}
}

// close makes every pop return false, those that wait included.
func (q *frontier) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// waiting returns how many pages are queued.
func (q *frontier) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.level) + len(q.next)
}

func (q *frontier) ended() bool {
	return q.closed || q.limit > 0 && q.taken >= q.limit
}
