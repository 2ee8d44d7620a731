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
// map:
//
//   - 44 of map. A slot takes 25: 16 for the string header, 8 that Go pads the
//     empty value with, and a control byte; and since tables double at 7/8 full,
//     there are 1.75 slots to an entry.
//   - 7 of allocator, which hands out 48, 64, 80, 96 … bytes for a string.
//
// TestExactOverhead measures it.
const exactOverhead = 51

// report writes the summary. It returns an error if it can't be written, if
// nothing was fetched though nobody interrupted, or if the filter forgot a URL.
func (c *crawler) report(w io.Writer) error {
	var b bytes.Buffer
	c.reportPages(&b)
	c.reportLinks(&b)
	c.reportFilter(&b)
	c.reportMemory(&b)
	c.reportProblems(&b)
	var misses []string
	if c.seen.audit != nil {
		misses = c.reportDifferences(&b)
	}
	_, err := b.WriteTo(w)
	switch {
	case err != nil:
		return err
	case len(misses) > 0:
		return fmt.Errorf("the filter forgot %d URLs, the first is %s", len(misses), misses[0])
	case c.stats.fetched.Load() == 0 && !c.interrupted && (c.state == nil || len(c.state.pending) > 0 || c.state.earlier == 0):
		return errors.New("nothing was fetched")
	}
	return nil
}

// row writes one aligned line: what, how many, and in words what else there is to
// say. The heads of the blocks are further left than their parts.
func row(b *bytes.Buffer, name, value, note string) {
	line := fmt.Sprintf("%-18s %12s   %s", name, value, note)
	b.Write(append(bytes.TrimRight([]byte(line), " "), '\n'))
}

func (c *crawler) reportPages(b *bytes.Buffer) {
	s := &c.stats
	fetched, redirected, failed := s.fetched.Load(), s.redirected.Load(), s.failed.Load()
	note := humanize.IBytes(uint64(s.bytes.Load())) + " read"
	if n := s.notHTML.Load(); n > 0 {
		note += fmt.Sprintf("; %s not HTML, not read", count(n))
	}
	if n := s.truncated.Load(); n > 0 {
		note += fmt.Sprintf("; %s cut at %s (-maxbody)", count(n), humanize.IBytes(uint64(c.cfg.maxBody)))
	}

	fmt.Fprintf(b, "\n%s\n\n", c.ending())
	if c.state != nil {
		row(b, "resumed", count(s.resumed.Load()), fmt.Sprintf("left by earlier runs, which found %s", count(c.state.earlier)))
	}
	row(b, "pages fetched", count(fetched), note)
	row(b, "redirects", count(redirected), "their targets are links")
	row(b, "failed", count(failed), "")
	row(b, "not fetched", count(s.resumed.Load()+s.added.Load()-fetched-redirected-failed), "new, but the crawl ended before")
	row(b, "elapsed", c.elapsed.Round(time.Millisecond).String(), "")
	row(b, "pages/s", perSecond(fetched, c.elapsed), "")
}

func (c *crawler) reportLinks(b *bytes.Buffer) {
	s := &c.stats
	b.WriteByte('\n')
	row(b, "links found", count(s.links.Load()), "with the start URLs")
	row(b, "  new", count(s.added.Load()), "")
	row(b, "  duplicate", count(s.duplicate.Load()), "skipped, because Add returned false")
	row(b, "  off-host", count(s.offHost.Load()), "")
	row(b, "  too deep", count(s.tooDeep.Load()), fmt.Sprintf("more than %d clicks away (-depth)", c.cfg.depth))
	row(b, "  robots.txt", count(s.robots.Load()), "forbidden")
	row(b, "  nofollow", count(s.nofollow.Load()), "")
	row(b, "  unusable", count(s.unusable.Load()), "mailto: and the like, or no URL")
}

func (c *crawler) reportFilter(b *bytes.Buffer) {
	f, added := c.seen.filter, c.stats.added.Load()
	if c.state != nil {
		added += c.state.earlier
	}
	estimate := "all bits are set"
	if n := f.EstimatedCount(); n != math.MaxUint64 {
		estimate = "going by its bits " + count(n)
	}
	b.WriteByte('\n')
	row(b, "keys in the filter", count(added), fmt.Sprintf("planned %s; %s", count(c.cfg.n), estimate))
	row(b, "  fill ratio", fmt.Sprintf("%.3g %%", 100*f.FillRatio()), "")
	row(b, "  estimated rate", fmt.Sprintf("%.2g", f.EstimatedFalsePositiveRate()), fmt.Sprintf("at %s keys it is %.2g", count(c.cfg.n), c.cfg.p))
	if uint64(added) > c.cfg.n {
		fmt.Fprintf(b, "\nThe crawl has outgrown the filter: more keys than -n %d, and so a rate above -p %g.\nPages were taken for seen that were not. Crawl again with a larger -n.\n", c.cfg.n, c.cfg.p)
	}
}

// reportMemory compares at two sizes, since the filter has its full size from the
// first key on: for few keys the exact set is the smaller one.
func (c *crawler) reportMemory(b *bytes.Buffer) {
	added := uint64(c.stats.added.Load())
	if added == 0 {
		return
	}
	filter := float64(c.seen.filter.SizeBytes())
	exactPerKey := float64(c.stats.addedBytes.Load())/float64(added) + exactOverhead

	b.WriteByte('\n')
	line := func(name, filter, exact string) { fmt.Fprintf(b, "%-22s %25s %25s\n", name, filter, exact) }
	line("memory", "filter", "exact set, estimated")
	for _, keys := range []uint64{added, c.cfg.n} {
		size := func(bytes float64) string {
			return fmt.Sprintf("%s (%s B/key)", humanize.IBytes(uint64(bytes)), humanize.CommafWithDigits(bytes/float64(keys), 1))
		}
		line("  at "+count(keys)+" keys", size(filter), size(exactPerKey*float64(keys)))
	}
	fmt.Fprintf(b, "  (the filter has its full size from the start; a key of the exact set is %.1f bytes\n  of URL and %d of map and allocator)\n", exactPerKey-exactOverhead, exactOverhead)
}

// reportDifferences lists where filter and exact set disagree, and returns the
// URLs that the filter forgot.
func (c *crawler) reportDifferences(b *bytes.Buffer) (misses []string) {
	falsePositives, misses := c.seen.differences()
	b.WriteByte('\n')
	row(b, "exact set", count(len(c.seen.audit.wins)), "different URLs")
	row(b, "  false positives", count(len(falsePositives)), "new, but the filter took them for seen: never fetched")
	row(b, "  misses", count(len(misses)), "seen, but the filter took them for new: must be 0")
	for _, url := range falsePositives {
		fmt.Fprintf(b, "    false positive: %s\n", url)
	}
	for _, url := range misses {
		fmt.Fprintf(b, "    MISS: %s\n", url)
	}
	return misses
}

func (c *crawler) reportProblems(b *bytes.Buffer) {
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	list("not crawled", c.client.problems())
	shown := c.stats.failures
	list(fmt.Sprintf("failed, %d of %s", len(shown), count(c.stats.failed.Load())), shown)
}
