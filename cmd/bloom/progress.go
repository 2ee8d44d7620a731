package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// redraw is the time between two drawings of the display.
const redraw = 200 * time.Millisecond

// A progress counts bytes, lines, and lines with the answer yes, and may show them on a terminal. It
// is safe for concurrent use by multiple goroutines.
type progress struct {
	bytes, lines, yes atomic.Int64

	what    string // the lines in yes
	stderr  io.Writer
	mu      sync.Mutex // held to write to stderr
	drawn   int        // characters of the display
	drawing sync.WaitGroup
	quit    chan struct{}
}

// progress starts to count. If standard error is a terminal, it shows the counts there. A command
// that prints must print into a file: a terminal or a pager would show both.
func (o *options) progress(what string, prints bool) *progress {
	p := &progress{what: what, stderr: o.stderr}
	if !o.quiet && isTerminal(o.stderr) && (!prints || isRegular(o.stdout)) {
		p.start()
	}
	return p
}

func (p *progress) add(lines, yes int) {
	p.lines.Add(int64(lines))
	p.yes.Add(int64(yes))
}

// start draws from a goroutine of its own, also while the program waits for input.
func (p *progress) start() {
	p.quit = make(chan struct{})
	p.drawing.Go(func() {
		ticker := time.NewTicker(redraw)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.write(fmt.Sprintf("%s lines, %s %s, %s read", si(&p.lines), si(&p.yes), p.what, humanize.IBytes(uint64(p.bytes.Load()))))
			case <-p.quit:
				p.write("")
				return
			}
		}
	})
}

// stop removes the display.
func (p *progress) stop() {
	if p.quit != nil {
		close(p.quit)
		p.drawing.Wait()
		p.quit = nil
	}
}

// report prints an error above the display.
func (p *progress) report(err error) { p.write(message(err)) }

// write replaces the display by a text. A text without a newline is the new display.
func (p *progress) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn > 0 {
		fmt.Fprintf(p.stderr, "\r%*s\r", p.drawn, "")
	}
	io.WriteString(p.stderr, text)
	if p.drawn = len(text); strings.HasSuffix(text, "\n") {
		p.drawn = 0
	}
}

func si(n *atomic.Int64) string {
	return strings.TrimSpace(humanize.SIWithDigits(float64(n.Load()), 1, ""))
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// isRegular reports whether w is a regular file.
func isRegular(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}
