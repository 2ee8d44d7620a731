package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestProgress: the display has the counts, a message stands in a line of its own, and nothing
// remains at the end.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &progress{what: "new", stderr: &out}
	p.bytes.Store(500_000)
	p.add(1_234_567, 4_321)
	p.report(errors.New("first"))
	p.start()
	for drawn := false; !drawn; time.Sleep(redraw / 10) {
		p.mu.Lock()
		drawn = p.drawn > 0
		p.mu.Unlock()
	}
	p.report(errors.New("second"))
	p.stop()
	display := "1.2 M lines, 4.3 k new, 488 KiB read"
	clear := "\r" + strings.Repeat(" ", len(display)) + "\r"
	if got := out.String(); !strings.HasPrefix(got, "bloom: first\n"+display+clear) || strings.Count(got, clear+"bloom: second\n") != 1 || strings.Count(got, display) != strings.Count(got, clear) {
		t.Errorf("%q", got)
	}
}

// TestNoProgressOverLines: no display over lines that are printed to a pipe, and so to a pager.
func TestNoProgressOverLines(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Open(writeFile(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isRegular(w) || !isRegular(file) {
		t.Error("a pipe, a file:", isRegular(w), isRegular(file))
	}
}
