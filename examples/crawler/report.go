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
	s, f := &c.stats, c.seen.filter.Stats()
	fetched, redirected, failed, added := s.fetched.Load(), s.redirected.Load(), s.failed.Load(), s.added.Load()
	elapsed := time.Since(c.started)
	keys, nothingLeft := added, false
	if c.state != nil {
		keys += c.state.earlier
		nothingLeft = c.state.earlier > 0 && len(c.state.pending) == 0
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s\n\n", c.ending)
	rows(&b,
		row{"pages fetched", fetched, fmt.Sprint(humanize.IBytes(uint64(s.bytes.Load())), " read; ", s.notHTML.Load(), " not HTML, not read")},
		row{"redirects", redirected, "their targets are links"},
		row{"failed", failed, ""},
		row{"not fetched", s.resumed.Load() + added - fetched - redirected - failed, "new, but the crawl ended before"},
		row{"resumed", s.resumed.Load(), "left by earlier runs, which found " + count(keys-added)},
		row{"pages/s", int64(float64(fetched) / elapsed.Seconds()), fmt.Sprint("in ", elapsed.Round(time.Millisecond))},
		row{},
		row{"links found", s.links.Load(), "with the start URLs"},
		row{"  new", added, ""},
		row{"  duplicate", s.duplicate.Load(), "skipped, because Add returned false"},
		row{"  off-host", s.offHost.Load(), ""},
		row{"  too deep", s.tooDeep.Load(), fmt.Sprint("more than ", c.cfg.depth, " clicks away (-depth)")},
		row{"  robots.txt", s.robots.Load(), "forbidden"},
		row{"  nofollow", s.nofollow.Load(), ""},
		row{"  unusable", s.unusable.Load(), "mailto: and the like, or no URL"},
		row{},
		row{"keys in the filter", keys, fmt.Sprintf("planned %s; %.3g %% of the bits are set", count(f.N), 100*f.FillRatio)},
	)
	if f.EstimatedCount != math.MaxUint64 { // then all are set
		rows(&b, row{"  going by its bits", int64(f.EstimatedCount), ""})
	}
	fmt.Fprintf(&b, "  estimated rate %15.2g   at %s keys it is %g\n", f.EstimatedFalsePositiveRate, count(f.N), f.P)
	if uint64(keys) > f.N {
		fmt.Fprintf(&b, "\nThe crawl has outgrown the filter: more keys than -n %d, and so a rate above -p %g.\nPages were taken for seen that were not. Crawl again with a larger -n.\n", f.N, f.P)
	}
	if added > 0 {
		c.reportMemory(&b, float64(f.SizeBytes), uint64(added))
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
		rows(&b, row{},
			row{"exact set", int64(len(c.seen.audit.wins)), "different URLs"},
			row{"  false positives", int64(len(falsePositives)), "new, but the filter took them for seen: never fetched"},
			row{"  misses", int64(len(misses)), "seen, but the filter took them for new: must be 0"})
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

// A row is a line of the summary: what, how many, and what else there is to say.
type row struct {
	name  string
	value int64
	note  string
}

func rows(b *bytes.Buffer, rows ...row) {
	for _, r := range rows {
		if r.name == "" {
			b.WriteByte('\n')
			continue
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-19s %11s   %s", r.name, count(r.value), r.note), " ") + "\n")
	}
}

// reportMemory compares at two sizes, since the filter has its full size from the
// first key on: for few keys the exact set is the smaller one.
func (c *crawler) reportMemory(w io.Writer, filter float64, added uint64) {
	exactPerKey := float64(c.stats.addedBytes.Load())/float64(added) + exactOverhead
	fmt.Fprintf(w, "\n%-22s %25s %25s\n", "memory", "filter", "exact set, estimated")
	for _, keys := range []uint64{added, c.cfg.n} {
		size := func(bytes float64) string {
			return fmt.Sprintf("%s (%s B/key)", humanize.IBytes(uint64(bytes)), humanize.CommafWithDigits(bytes/float64(keys), 1))
		}
		fmt.Fprintf(w, "%-22s %25s %25s\n", "  at "+count(keys)+" keys", size(filter), size(exactPerKey*float64(keys)))
	}
	fmt.Fprintf(w, "  (the filter has its full size from the start; a key of the exact set is %.1f bytes\n  of URL and %d of map and allocator)\n", exactPerKey-exactOverhead, exactOverhead)
}

// count shows a number with thousands separators.
func count[T int | int64 | uint64](n T) string { return humanize.Comma(int64(n)) }
