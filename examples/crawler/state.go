package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"github.com/seed3447c163/bloom/persist"
)

// A state keeps a crawl in a folder, so that it can go on after being killed. seen.map
// is the filter, mapped into memory. To frontier.log is appended, a line each,
//
//	+3 http://example.org/page    a page was found, 3 clicks away
//	-3 http://example.org/page    and is done with
//
// A page is in the log before it is in the filter, so one that the filter knows is
// never lost; and it is done with only when all its links are in the log. So
// after a kill, the pages with a + and no - are those that wait, together with
// those that were being fetched, which are fetched once more.
//
// That holds when the program is killed. After a power cut the filter may know
// pages that the log does not: remove seen.map, and it is made anew from the log.
type state struct {
	seen    *persist.File
	pending []page // found by an earlier run and not done with, the nearest first
	earlier int64  // pages that earlier runs found
	onError func() // called when a line could not be written: there is none after it

	lock *flock.Flock // a folder is for one crawler at a time
	mu   sync.Mutex
	log  *os.File
	err  error
}

// openState opens the folder of an earlier crawl, or begins a new one.
func openState(cfg config) (_ *state, err error) {
	if err := os.MkdirAll(cfg.state, 0o777); err != nil {
		return nil, err
	}
	s := &state{lock: flock.New(filepath.Join(cfg.state, "lock")), onError: func() {}}
	if locked, err := s.lock.TryLock(); err != nil {
		return nil, err
	} else if !locked {
		return nil, fmt.Errorf("%s: a crawler is already running on this folder", cfg.state)
	}
	s.seen, err = persist.Open(filepath.Join(cfg.state, "seen.map"), cfg.n, cfg.p)
	if err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	s.log, err = os.OpenFile(filepath.Join(cfg.state, "frontier.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err == nil {
		if err = s.replay(cfg); err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", s.log.Name(), err), s.log.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.seen.Close(), s.lock.Close())
	}
	return s, nil
}

// replay reads the log, and cuts off what a kill left of its last line.
func (s *state) replay(cfg config) error {
	text, err := io.ReadAll(s.log)
	if err != nil {
		return err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if err := s.log.Truncate(int64(len(text))); err != nil {
		return err
	}
	// A crawl with another depth limit would need the links that this one did not follow.
	title := fmt.Sprintf("crawl depth %d from %v\n", cfg.depth, cfg.starts)
	if len(text) == 0 {
		s.write(title)
		return s.err
	}
	waiting := map[target]page{}
	for line := range strings.Lines(string(text)) {
		if title == "" {
			err = s.replayLine(line, waiting)
		} else if line != title {
			err = fmt.Errorf("want %q", title)
		}
		if err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
		title = ""
	}
	s.pending = slices.SortedFunc(maps.Values(waiting), func(a, b page) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.String(), b.String()))
	})
	return nil
}

func (s *state) replayLine(line string, waiting map[target]page) error {
	var sign rune
	var p page
	var url string
	if _, err := fmt.Sscanf(line, "%c%d %s\n", &sign, &p.depth, &url); err != nil {
		return err
	}
	t, err := resolve(&neturl.URL{}, url)
	if err != nil || t.String() != url || sign != '+' && sign != '-' {
		return errors.New("want + or -, a depth and a URL")
	}
	if p.target = t; sign == '-' {
		delete(waiting, t)
		return nil
	}
	waiting[t] = p
	s.earlier++
	s.seen.AddString(url) // the kill may have come between the log and the filter
	return nil
}

// add takes note of a page if it is definitely new and this call is the one that added it
// to the filter.
func (s *state) add(p page) bool {
	url := p.String()
	if s.seen.ContainsString(url) {
		return false // as most are, and needs no line
	}
	return s.write(fmt.Sprintf("+%d %s\n", p.depth, url)) && s.seen.AddString(url)
}

// done says that a page is done with: all its links were offered to add.
func (s *state) done(p page) { s.write(fmt.Sprintf("-%d %s\n", p.depth, p)) }

// write appends a line in one call, so that a kill leaves all of it or cuts the
// last one. It returns false if that or an earlier one failed.
func (s *state) write(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		if _, s.err = s.log.WriteString(line); s.err != nil {
			s.onError()
		}
	}
	return s.err == nil
}

// close makes all safe against a power cut, and returns the first error that there
// was.
func (s *state) close() error {
	return errors.Join(s.err, s.seen.Sync(), s.log.Sync(), s.seen.Close(), s.log.Close(), s.lock.Close())
}
