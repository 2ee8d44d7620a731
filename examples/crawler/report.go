package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// exactOverhead is what an exact set, a map[string]struct{}, takes for a URL
// beside the URL's own bytes, on 64-bit machines, averaged over all sizes of the
// map: 44 of map and 7 of the allocator, which rounds up. TestExactOverhead measures it.
const exactOverhead = 51

// showProgress says every second on w how far the crawl is, until stop is called.
func (c *crawler) showProgress(w io.Writer) (stop func()) {
	tick, done, stopped := time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-tick.C:
				c.mu.Lock()
				fmt.Fprintf(w, "%5.1fs  %s fetched  %s failed  %s in the filter\n",
					time.Since(c.started).Seconds(), count(c.counts["pages fetched"]), count(c.counts["failed"]), count(c.counts["new"]))
				c.mu.Unlock()
			case <-done:
				return
			}
		}
	}()
	return func() { tick.Stop(); close(done); <-stopped }
}

// report writes the summary. It returns an error if it can't be written, if
// nothing was fetched though nobody interrupted, or if the filter forgot a URL.
func (c *crawler) report(w io.Writer) error {
	n, f, elapsed := c.counts, c.seen.Stats(), time.Since(c.started)
	n["not fetched"] = n["new"] - n["pages fetched"] - n["redirects"] - n["failed"]
	n["pages/s"] = int64(float64(n["pages fetched"]) / elapsed.Seconds())
	falsePositives, misses := c.differences()
	n["exact set"], n["false positives"], n["misses"] = int64(len(c.wins)), int64(len(falsePositives)), int64(len(misses))
	rows := []struct{ name, note string }{
		{"pages fetched", humanize.IBytes(uint64(n["bytes"])) + " of HTML"},
		{"redirects", "their targets are links"},
		{"failed", ""},
		{"not fetched", "new, but the crawl ended before"},
		{"pages/s", fmt.Sprint("in ", elapsed.Round(time.Millisecond))},
		{},
		{"links found", "with the start URLs"},
		{"new", fmt.Sprintf("keys in the filter, planned %s; %.3g %% of the bits are set", count(f.N), 100*f.FillRatio)},
		{"duplicate", "skipped, because Add returned false"},
		{"off-host", ""},
		{"too deep", fmt.Sprintf("more than %d clicks away (-depth)", c.cfg.depth)},
		{"robots.txt", "forbidden"},
		{"nofollow", ""},
		{"unusable", "mailto: and the like, or no URL"},
		{},
		{"exact set", "different URLs"},
		{"false positives", "new, but the filter took them for seen: never fetched"},
		{"misses", "seen, but the filter took them for new: must be 0"},
		{},
	}
	if !c.cfg.exact {
		rows = rows[:len(rows)-4]
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s\n\n", c.ending)
	for _, row := range rows {
		if row.name != "" {
			row.name = fmt.Sprintf("%-15s %11s   %s", row.name, count(n[row.name]), row.note)
		}
		fmt.Fprintln(&b, strings.TrimRight(row.name, " "))
	}
	for _, url := range falsePositives {
		fmt.Fprintf(&b, "  false positive: %s\n", url)
	}
	if uint64(n["new"]) > f.N {
		fmt.Fprintf(&b, "\nThe crawl has outgrown the filter: more keys than -n %d, and so a rate above -p %g, now %.2g.\nPages were taken for seen that were not. Crawl again with a larger -n.\n", f.N, f.P, f.EstimatedFalsePositiveRate)
	}
	// At two sizes, since the filter has its full size from the first key on.
	perKey := float64(n["bytes of keys"])/float64(max(n["new"], 1)) + exactOverhead
	for _, keys := range []uint64{uint64(n["new"]), f.N} {
		fmt.Fprintf(&b, "memory at %9s keys: filter %s, an exact set about %s\n", count(keys), humanize.IBytes(f.SizeBytes), humanize.IBytes(uint64(perKey*float64(keys))))
	}
	for origin, h := range c.client.hosts {
		if h.problem != nil {
			fmt.Fprintf(&b, "\nnot crawled: %s: its robots.txt can't be read: %v\n", origin, h.problem)
		}
	}
	if len(c.failures) > 0 {
		fmt.Fprintf(&b, "\nfailed, %d of %s:\n  %s\n", len(c.failures), count(n["failed"]), strings.Join(c.failures, "\n  "))
	}
	switch _, err := b.WriteTo(w); {
	case err != nil:
		return err
	case len(misses) > 0:
		return fmt.Errorf("the filter forgot %d URLs: %s", len(misses), strings.Join(misses, " "))
	case n["pages fetched"] == 0 && c.ending != interrupted:
		return errors.New("nothing was fetched")
	}
	return nil
}

// count shows a number with thousands separators.
func count[T int | int64 | uint64](n T) string { return humanize.Comma(int64(n)) }
