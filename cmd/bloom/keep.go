package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
)

// saveEvery is the least time between two saves of dedup's filter while lines arrive. A test shortens it.
var saveEvery = time.Minute

// A keeper saves the filter of dedup --filter: about every minute while lines arrive, when a signal or a full filter
// ends the program, and at the end. It saves only between two chunks, when the lines of all keys in the filter have
// been printed. So the file never has a key whose line was not printed. A killed process loses at most the keys since
// the last save.
type keeper struct {
	*env
	path   string
	filter filterfile.Filter
	format *filterfile.Format

	in             *lines.Input
	printed, saved int // printed lines with a key: so far, and at the last save
	timer          *time.Timer
}

// during sets the timer of in, so that in.Each saves the filter about every minute.
func (k *keeper) during(in *lines.Input) {
	k.in, k.timer = in, time.NewTimer(saveEvery)
	in.Timer = k.timer.C
	in.OnTimer = func() error {
		start := time.Now()
		if err := k.saveNew(); err != nil {
			return err
		}
		k.timer.Reset(max(saveEvery, 9*time.Since(start))) // saves take at most a tenth of the time
		return nil
	}
}

// saveNew saves the filter if lines were printed since the last save.
func (k *keeper) saveNew() error {
	if k.printed == k.saved {
		return nil
	}
	err := write(k.path, k.filter, k.format)
	if err == nil {
		k.saved = k.printed
	}
	return err
}

// end saves the filter if err is nil, a signal or errOverfull. err is the error that ended the reading, or nil at the
// end of the input. After another error, end does not save, so the next run prints the lines since the last save again.
// After every error, it warns about saved keys, whose lines the next run does not print. It returns err, or the error
// of its save.
func (k *keeper) end(err error) error {
	k.timer.Stop()
	if err == nil {
		return save(k.env, k.path, k.filter, k.format)
	}
	if signal := context.Cause(k.ctx); signal != nil && errors.Is(err, signal) || errors.Is(err, errOverfull) {
		if failed := k.saveNew(); failed != nil {
			return failed
		}
	}
	if k.saved > 0 {
		keyed := ""
		if k.in.Missing > 0 {
			keyed = " that have one"
		}
		fmt.Fprintf(k.stderr, "bloom: warning: %s has the keys of the first %s%s; the next run does not print them again\n",
			printable(k.path), counted(k.saved, "printed line"), keyed)
	}
	return err
}
