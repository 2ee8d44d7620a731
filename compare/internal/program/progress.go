package program

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// Progress tells on standard error what is going on: on a terminal in one line that is
// written over, elsewhere in a line every ten seconds. The zero Progress is ready.
type Progress struct{ last time.Time }

func (p *Progress) Say(format string, args ...any) {
	switch {
	case term.IsTerminal(int(os.Stderr.Fd())):
		fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
	case time.Since(p.last) >= 10*time.Second:
		p.last = time.Now()
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

// Finish leaves the terminal's line.
func (p *Progress) Finish() {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}
