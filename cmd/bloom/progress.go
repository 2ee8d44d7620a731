package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// redraw is the time between two drawings of the display.
const redraw = 200 * time.Millisecond

// A progress counts keys and bytes, and may show them on a terminal with speed and time left. It is
// safe for concurrent use by multiple goroutines.
type progress struct {
	bytes, keys, yes atomic.Int64
	what             string // the keys in yes
	quit, done       chan struct{}
	says             chan string
}

func (p *progress) read(n int) { p.bytes.Add(int64(n)) }

// count adds keys, and keys with the answer yes.
func (p *progress) count(keys, yes int) {
	p.keys.Add(int64(keys))
	p.yes.Add(int64(yes))
}

// newProgress shows progress through the files if standard error is a terminal. A command that
// prints must print into a file: a terminal or a pager would show both.
func newProgress(e *env, what string, files []string, printing bool) *progress {
	p := &progress{what: what}
	if isTerminal(e.stderr) && !(printing && !isRegular(e.stdout)) {
		p.start(e.stderr, totalSize(files, e.stdin))
	}
	return p
}

// start draws from a goroutine of its own, also while the program waits for input. A total of 0 is
// unknown.
func (p *progress) start(out io.Writer, total int64) {
	limit := total
	if total == 0 {
		limit = -1 // progressbar's word for unknown
	}
	bar := progressbar.NewOptions64(limit,
		progressbar.OptionSetWriter(out),
		progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
		progressbar.OptionSetSpinnerChangeInterval(0), // it turns with each drawing
		progressbar.OptionThrottle(redraw/2),          // one drawing for both calls below
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

// say prints a message above the display.
func (p *progress) say(out io.Writer, text string) {
	if p.quit == nil {
		io.WriteString(out, text)
		return
	}
	p.says <- text
}

// stop removes the display.
func (p *progress) stop() {
	if p.quit != nil {
		close(p.quit)
		<-p.done
		p.quit = nil
	}
}

// String is the beginning of the display.
func (p *progress) String() string {
	return fmt.Sprintf("%s keys, %s %s", compact(p.keys.Load()), compact(p.yes.Load()), p.what)
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// isRegular reports whether w is a regular file or no file at all.
func isRegular(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return true
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// totalSize returns the bytes of all files, or 0 if one of them is not a regular file. A missing
// file has no bytes.
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
