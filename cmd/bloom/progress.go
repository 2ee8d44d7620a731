package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// redraw is how often the display is redrawn.
const redraw = 200 * time.Millisecond

// A progress counts what has been read, and shows it on a terminal as a line that is
// redrawn: keys, new ones, bytes, speed, time left. Safe for concurrent use by multiple
// goroutines.
type progress struct {
	bytes, keys, yes atomic.Int64
	what             string // what yes counts
	quit, done       chan struct{}
	says             chan string
}

func (p *progress) read(n int) { p.bytes.Add(int64(n)) }

// count adds to the keys, and to those of them that were answered with yes.
func (p *progress) count(keys, yes int) {
	p.keys.Add(int64(keys))
	p.yes.Add(int64(yes))
}

// newProgress begins to show progress through the given files if standard error is a
// terminal and nothing is written to another one meanwhile.
func newProgress(e *env, what string, files []string, printing bool) *progress {
	p := &progress{what: what}
	if isTerminal(e.stderr) && !(printing && isTerminal(e.stdout)) {
		p.start(e.stderr, totalSize(files, e.stdin))
	}
	return p
}

// start draws from a goroutine of its own, so that the numbers are also right while
// the program waits for input. A total of 0 is an unknown one: no time left.
func (p *progress) start(out io.Writer, total int64) {
	limit := total
	if total == 0 {
		limit = -1 // progressbar's word for unknown
	}
	bar := progressbar.NewOptions64(limit,
		progressbar.OptionSetWriter(out),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
		progressbar.OptionSetSpinnerChangeInterval(0), // it turns when we redraw
		progressbar.OptionThrottle(redraw/2),          // once, not at both calls
	)
	bar.StartWithoutRender()
	p.quit, p.done, p.says = make(chan struct{}), make(chan struct{}), make(chan string)
	go func() {
		defer close(p.done)
		ticker := time.NewTicker(redraw)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				at := p.bytes.Load()
				if total > 0 {
					at = min(at, total-1) // at total the bar ends, and a file may grow
				}
				bar.Describe(p.String())
				bar.Set64(at)
			case text := <-p.says:
				bar.Clear()
				io.WriteString(out, text)
			case <-p.quit:
				bar.Clear()
				return
			}
		}
	}()
}

// say prints a message where the display is not in its way.
func (p *progress) say(out io.Writer, text string) {
	if p.quit == nil {
		io.WriteString(out, text)
		return
	}
	p.says <- text
}

// stop takes the display off the screen: what remains there are messages.
func (p *progress) stop() {
	if p.quit != nil {
		close(p.quit)
		<-p.done
		p.quit = nil
	}
}

// String is what the bar begins with.
func (p *progress) String() string {
	return fmt.Sprintf("%s keys, %s %s", compact(p.keys.Load()), compact(p.yes.Load()), p.what)
}

// compact prints a number in a few characters: 12.3M.
func compact(n int64) string {
	value, prefix := humanize.ComputeSI(float64(n))
	return humanize.FtoaWithDigits(value, 1) + prefix
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// totalSize returns the bytes of all files, or 0 if it cannot be told because one of
// them is not a regular file. A file that is missing has none.
func totalSize(files []string, stdin io.Reader) (total int64) {
	if len(files) == 0 {
		files = []string{"-"}
	}
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
