package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
)

// showEvery is the time between two changes of the line that shows progress. A test shortens it.
var showEvery = time.Second

const (
	erase = "\r\x1b[K"           // erases the line of the cursor
	draw  = "\x1b[?7l%s\x1b[?7h" // a text without line wrap: a narrow terminal shows its start
)

// A progress is a line on the terminal of standard error that shows how far a command has read.
type progress struct {
	read, keys atomic.Int64 // bytes read, and keys handled
	of         int64        // bytes of all inputs; 0 or -1 if unknown

	mu    sync.Mutex // guards the line
	drawn bool
	out   io.Writer
	on    bool // true from show to stop
}

// text returns the progress line to show after the elapsed time.
func (p *progress) text(elapsed time.Duration) string {
	read, keys, left := p.read.Load(), p.keys.Load(), ""
	text := humanize.Bytes(uint64(read))
	if 0 < read && read <= p.of {
		text += " of " + humanize.Bytes(uint64(p.of))
		all := time.Duration(float64(elapsed) * float64(p.of) / float64(read))
		left = fmt.Sprintf(", %v left", (all - elapsed).Round(time.Second))
	}
	text += " read"
	if keys > 0 {
		text += ", " + counted(uint64(keys), "key")
	}
	return "bloom: " + text + left
}

// pause erases the progress line. The line is not drawn again until resume is called.
func (p *progress) pause() (resume func()) {
	p.mu.Lock()
	if p.drawn {
		io.WriteString(p.out, erase)
		p.drawn = false
	}
	return p.mu.Unlock
}

// show draws the progress of reading the named inputs every second, until stop is called. It draws only if standard
// error is a terminal in the foreground and no input is a terminal, where the user types. If a progress is already
// shown, show does nothing: so union shows one progress for all its filters.
func (o *command) show(names []string) (stop func()) {
	p := &o.progress
	out, isPipe := o.stderr.(*pipe)
	if p.on || o.quiet || o.cmd.Flags().Lookup("quiet") == nil || !isPipe || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	p.of = 0
	for _, name := range names {
		info, err := os.Stat(name)
		if file, ok := o.stdin.(interface{ Stat() (fs.FileInfo, error) }); ok && name == "-" {
			info, err = file.Stat()
		}
		switch {
		case err == nil && info.Mode().IsRegular() && p.of >= 0:
			p.of += info.Size()
		case err == nil && info.Mode()&fs.ModeCharDevice != 0:
			return func() {}
		default:
			p.of = -1
		}
	}
	p.read.Store(0)
	p.keys.Store(0)
	p.on, p.out = true, out
	begin, ticker, done := time.Now(), time.NewTicker(showEvery), make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		for {
			select {
			case <-ticker.C:
				if out.isTerminal() {
					resume := p.pause()
					fmt.Fprintf(out, draw, p.text(time.Since(begin)))
					p.drawn = true
					resume()
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		drawing.Wait()
		p.pause()()
		p.on = false
	}
}

// each reads the keys of in by its method Each, and shows the progress, unless it prints lines to a terminal, or to a
// pipe whose reader may print them to the terminal.
func (o *command) each(in *lines.Input, work func(c *lines.Chunk) (int, error), print func(c *lines.Chunk) error) error {
	names := in.Files
	if len(names) == 0 {
		names = []string{"-"}
	}
	if _, isPipe := o.stdout.(*pipe); !isPipe || print == nil {
		defer o.show(names)()
	}
	return in.Each(func(c *lines.Chunk) (n int, err error) {
		n, err = work(c)
		o.progress.keys.Add(int64(n))
		return n, err
	}, print)
}
