package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// redraw is how often the display is redrawn.
const redraw = 200 * time.Millisecond

// A progress is the live display, a line on a terminal that says how far the
// program has come. It draws only between start and stop. It is an io.Writer for
// messages to the same terminal. Safe for concurrent use by multiple goroutines.
type progress struct {
	out io.Writer

	mu    sync.Mutex
	now   counts
	bar   *progressbar.ProgressBar // nil when there is nothing on the screen
	total int64

	quit, done chan struct{}
}

// start begins to draw: a bar with the time left for an input of total bytes, a
// spinner if total is 0. Drawing has a goroutine of its own, so that the numbers
// are also right while the program waits for input.
func (p *progress) start(total int64) {
	limit := total
	if total == 0 {
		limit = -1 // progressbar's word for unknown
	}
	p.total = total
	p.bar = progressbar.NewOptions64(limit,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
		progressbar.OptionSetSpinnerChangeInterval(0), // it turns when we redraw
		progressbar.OptionThrottle(redraw/2),          // once, not at both calls
	)
	p.bar.StartWithoutRender()
	p.quit, p.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.done)
		ticker := time.NewTicker(redraw)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.draw()
			case <-p.quit:
				return
			}
		}
	}()
}

// set gives the display its numbers.
func (p *progress) set(now counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.now.bytes
	if p.total > 0 {
		at = min(at, p.total-1) // at total the bar is finished for good, and a file may grow
	}
	p.bar.Describe(fmt.Sprintf("%s lines, %s distinct", compact(p.now.lines), compact(p.now.printed)))
	p.bar.Set64(at) // comes too soon to draw; the next Describe will
}

// compact prints a number in a few characters: 12.3M.
func compact(n uint64) string {
	value, prefix := humanize.ComputeSI(float64(n))
	return humanize.FtoaWithDigits(value, 1) + prefix
}

// Write clears the display, which comes back below the message.
func (p *progress) Write(message []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
	return p.out.Write(message)
}

// stop takes the display off the screen: what remains there are messages.
func (p *progress) stop() {
	if p.bar == nil {
		return
	}
	close(p.quit)
	<-p.done
	p.bar.Clear()
	p.bar = nil
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// totalSize returns the bytes of all files, or 0 if it cannot be told because
// one of them is not a regular file. A file that is missing has none.
func totalSize(files []string, stdin io.Reader) (total int64) {
	for _, name := range files {
		var info os.FileInfo
		var err error
		if name != "-" {
			info, err = os.Stat(name)
		} else if file, ok := stdin.(*os.File); ok {
			info, err = file.Stat()
		} else {
			return 0
		}
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() {
			return 0
		}
		total += info.Size()
	}
	return total
}
