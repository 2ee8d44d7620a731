package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

const (
	liveInterval  = 100 * time.Millisecond // on a terminal, where the line is overwritten
	plainInterval = time.Second            // elsewhere, where lines add up
)

// startProgress says every now and then on w how far the crawl is. The function
// it returns ends that and waits until nothing more will be written.
func startProgress(c *crawler, w io.Writer) (stop func()) {
	interval, before, after, width := plainInterval, "", "\n", 0
	if columns, ok := terminalWidth(w); ok {
		// To the line's start, the text, and erase what is left of the last one.
		interval, before, after, width = liveInterval, "\r", "\x1b[K", columns
	}

	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				line := c.progressLine()
				if width > 0 {
					line = line[:min(len(line), width-1)] // a wrapped line can't be overwritten
				}
				if _, err := fmt.Fprint(w, before, line, after); err != nil {
					return // nobody reads it; the crawl goes on
				}
			case <-done:
				if width > 0 {
					// An error here has nowhere to go: w is where errors are told.
					fmt.Fprint(w, before, after)
				}
				return
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

// terminalWidth returns the columns of the terminal that w is, if it is one.
func terminalWidth(w io.Writer) (columns int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return columns, err == nil && columns > 1
}

// progressLine is ASCII, so that it can be cut to any width. It leaves out the
// fill ratio, which takes a pass over the whole filter.
func (c *crawler) progressLine() string {
	s := &c.stats
	elapsed := time.Since(c.started)
	return fmt.Sprintf("%5.1fs  %s fetched (%s/s)  %s failed  %s queued  %s in the filter",
		elapsed.Seconds(), count(s.fetched.Load()), perSecond(s.fetched.Load(), elapsed),
		count(s.failed.Load()), count(c.frontier.waiting()), count(s.added.Load()))
}

// count shows a number with thousands separators.
func count[T int | int64 | uint64](n T) string { return humanize.Comma(int64(n)) }

func perSecond(n int64, d time.Duration) string {
	return humanize.CommafWithDigits(float64(n)/max(d.Seconds(), 1e-9), 0)
}
