package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// exactOverhead is what an exact set, a map[string]struct{}, takes for a URL
// beside the URL's own bytes, on 64-bit machines, averaged over all sizes of the
// map: 44 of map (25 for a slot, and 1.75 slots to an entry, as tables double at 7/8
// full), and 7 of the allocator, which rounds up. TestExactOverhead measures it.
const exactOverhead = 51

// showProgress says every second on w how far the crawl is, until stop is called.
func (c *crawler) showProgress(w io.Writer) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s := &c.stats
				fmt.Fprintf(w, "%5.1fs  %s fetched  %s failed  %s in the filter\n",
					time.Since(c.started).Seconds(), count(s.fetched.Load()), count(s.failed.Load()), count(s.added.Load()))
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-stopped }
}

// report writes the summary. It returns an error if it can't be written, if
// nothing was fetched though nobody interrupted, or if the filter forgot a URL.
func (c *crawler) report(w io.Writer) error {
	s, f := &c.stats, c.seen.filter
	fetched, redirected, failed, added := s.fetched.Load(), s.redirected.Load(), s.failed.Load(), s.added.Load()
	elapsed := time.Since(c.started)
	var b bytes.Buffer
	row := func(name, value string, note ...any) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-18s %12s   %s", name, value, fmt.Sprint(note...)), " ") + "\n")
	}

	fmt.Fprintf(&b, "\n%s\n\n", c.ending)
	keys, nothingLeft := added, false
	if c.state != nil {
		keys += c.state.earlier
		nothingLeft = c.state.earlier > 0 && len(c.state.pending) == 0
		row("resumed", count(s.resumed.Load()), "left by earlier runs, which found ", count(c.state.earlier))
	}
	row("pages fetched", count(fetched), humanize.IBytes(uint64(s.bytes.Load())), " read; ", count(s.notHTML.Load()), " not HTML, not read")
	row("redirects", count(redirected), "their targets are links")
	row("failed", count(failed))
	row("not fetched", count(s.resumed.Load()+added-fetched-redirected-failed), "new, but the crawl ended before")
	row("elapsed", elapsed.Round(time.Millisecond).String())
	row("pages/s", humanize.CommafWithDigits(float64(fetched)/elapsed.Seconds(), 0))

	b.WriteByte('\n')
	row("links found", count(s.links.Load()), "with the start URLs")
	row("  new", count(added))
	row("  duplicate", count(s.duplicate.Load()), "skipped, because Add returned false")
	row("  off-host", count(s.offHost.Load()))
	row("  too deep", count(s.tooDeep.Load()), "more than ", c.cfg.depth, " clicks away (-depth)")
	row("  robots.txt", count(s.robots.Load()), "forbidden")
	row("  nofollow", count(s.nofollow.Load()))
	row("  unusable", count(s.unusable.Load()), "mailto: and the like, or no URL")

	b.WriteByte('\n')
	estimate := "all bits are set"
	if n := f.EstimatedCount(); n != math.MaxUint64 {
		estimate = "going by its bits " + count(n)
	}
	row("keys in the filter", count(keys), "planned ", count(c.cfg.n), "; ", estimate)
	row("  fill ratio", fmt.Sprintf("%.3g %%", 100*f.FillRatio()))
	row("  estimated rate", fmt.Sprintf("%.2g", f.EstimatedFalsePositiveRate()), "at ", count(c.cfg.n), " keys it is ", c.cfg.p)
	if uint64(keys) > c.cfg.n {
		fmt.Fprintf(&b, "\nThe crawl has outgrown the filter: more keys than -n %d, and so a rate above -p %g.\nPages were taken for seen that were not. Crawl again with a larger -n.\n", c.cfg.n, c.cfg.p)
	}
	if added > 0 {
		c.reportMemory(&b)
	}
	for origin, h := range c.client.hosts {
		if h.problem != nil {
			fmt.Fprintf(&b, "\nnot crawled: %s: its robots.txt can't be read: %v\n", origin, h.problem)
		}
	}
	if len(c.failures) > 0 {
		fmt.Fprintf(&b, "\nfailed, %d of %s:\n  %s\n", len(c.failures), count(failed), strings.Join(c.failures, "\n  "))
	}
	var misses []string
	if c.seen.audit != nil {
		var falsePositives []string
		falsePositives, misses = c.seen.differences()
		b.WriteByte('\n')
		row("exact set", count(len(c.seen.audit.wins)), "different URLs")
		row("  false positives", count(len(falsePositives)), "new, but the filter took them for seen: never fetched")
		row("  misses", count(len(misses)), "seen, but the filter took them for new: must be 0")
		for _, url := range falsePositives {
			fmt.Fprintf(&b, "    false positive: %s\n", url)
		}
	}
	switch _, err := b.WriteTo(w); {
	case err != nil:
		return err
	case len(misses) > 0:
		return fmt.Errorf("the filter forgot %d URLs: %s", len(misses), strings.Join(misses, " "))
	case fetched == 0 && c.ending != interrupted && !nothingLeft:
		return errors.New("nothing was fetched")
	}
	return nil
}

// reportMemory compares at two sizes, since the filter has its full size from the
// first key on: for few keys the exact set is the smaller one.
func (c *crawler) reportMemory(w io.Writer) {
	added := uint64(c.stats.added.Load())
	exactPerKey := float64(c.stats.addedBytes.Load())/float64(added) + exactOverhead
	fmt.Fprintf(w, "\n%-22s %25s %25s\n", "memory", "filter", "exact set, estimated")
	for _, keys := range []uint64{added, c.cfg.n} {
		size := func(bytes float64) string {
			return fmt.Sprintf("%s (%s B/key)", humanize.IBytes(uint64(bytes)), humanize.CommafWithDigits(bytes/float64(keys), 1))
		}
		fmt.Fprintf(w, "%-22s %25s %25s\n", "  at "+count(keys)+" keys", size(float64(c.seen.filter.SizeBytes())), size(exactPerKey*float64(keys)))
	}
	fmt.Fprintf(w, "  (the filter has its full size from the start; a key of the exact set is %.1f bytes\n  of URL and %d of map and allocator)\n", exactPerKey-exactOverhead, exactOverhead)
}

// count shows a number with thousands separators.
func count[T int | int64 | uint64](n T) string { return humanize.Comma(int64(n)) }
