package main

import "slices"

// With -exact an exact set keeps, for each URL that was offered to the filter, how many of the
// offers the filter called new.
//
// One call can't be judged by itself: of two workers that offer the same new URL
// at the same time, one may come first at the filter and the other at the exact
// set, and both would look wrong. The counts don't depend on who came first, so
// they are compared when all workers have ended:
//
//	0  a false positive: new once, but the filter never said so
//	1  right
//	2  a miss: the filter forgot the URL and had it fetched twice

func (c *crawler) record(url string, added bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.wins[url]
	if added {
		n++
	}
	c.wins[url] = n
}

// differences returns, sorted, the URLs that the filter took for seen though they
// never were, and those that it forgot, which must not happen. No add may run at
// the same time.
func (c *crawler) differences() (falsePositives, misses []string) {
	for url, wins := range c.wins {
		switch {
		case wins > 1 || !c.seen.ContainsString(url):
			misses = append(misses, url)
		case wins == 0:
			falsePositives = append(falsePositives, url)
		}
	}
	slices.Sort(falsePositives)
	slices.Sort(misses)
	return falsePositives, misses
}
