package main

import (
	"fmt"
	"io"
	"time"
)

// jobKey names the visits that take about the same time.
type jobKey struct {
	peer string
	n    uint64
	p    float64
}

// visits are those that are still to be made, and how long one took last time, or
// is guessed to take.
type visits struct {
	left  int
	known bool
	each  time.Duration
}

// progress tells what is going on and how long it will take: on a terminal in one
// line that is written over, elsewhere in a line now and then.
type progress struct {
	out      io.Writer
	terminal bool
	total    map[jobKey]*visits
	last     time.Time
}

// plainEvery is how often a log hears of us.
const plainEvery = 10 * time.Second

func (b *progress) say(what string) {
	switch left := b.timeLeft().Round(time.Second); {
	case b.terminal:
		fmt.Fprintf(b.out, "\r\x1b[K%s left | %s", left, what)
	case time.Since(b.last) >= plainEvery:
		b.last = time.Now()
		fmt.Fprintf(b.out, "%s left | %s\n", left, what)
	}
}

func (b *progress) done(key jobKey, took time.Duration) {
	v := b.total[key]
	v.left--
	v.known, v.each = true, took
}

// finish leaves the terminal's line.
func (b *progress) finish() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}

// timeLeft takes what a visit took last time, and a guess for those not yet made.
func (b *progress) timeLeft() time.Duration {
	var known, guessed time.Duration
	for _, v := range b.total {
		if v.known {
			known += time.Duration(v.left) * v.each
		} else {
			guessed += time.Duration(v.left) * v.each
		}
	}
	return known + guessed
}
