package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom/persist"
)

// A state keeps a crawl in a folder, so that it can go on after being killed. Two
// files are in it: seen.map, the filter, mapped into memory, and frontier.log, to
// which is appended, a line each,
//
//	+17 3 http://example.org/page    page 17 was found, 3 clicks away
//	-17                              and is done with
//
// A page is in the log before it is in the filter, so one that the filter knows is
// never lost; and it is done with only when all its links are in the log. So
// after a kill, the pages with a + and no - are those that wait, together with
// those that were being fetched, which are fetched once more.
//
// That holds when the program is killed. After a power cut the filter may know
// pages that the log does not: remove seen.map, and it is made anew from the log.
//
// A folder is for one crawler at a time. Two would give the same numbers to different
// pages, and one's - would take the other's page from those that wait. So the log is
// locked, where the system has locks that end with their process: on Linux, macOS and
// the BSDs. Elsewhere it is up to the user.
type state struct {
	seen    *persist.File
	pending []page // found by an earlier run and not done with
	earlier int64  // pages that earlier runs found
	lastID  atomic.Int64

	mu  sync.Mutex
	log *os.File
	err error // of the first line that could not be written: there is none after it
}

// openState opens the folder of an earlier crawl, or begins a new one.
func openState(cfg config) (_ *state, err error) {
	if err := os.MkdirAll(cfg.state, 0o777); err != nil {
		return nil, err
	}
	s := &state{}
	s.log, err = os.OpenFile(filepath.Join(cfg.state, "frontier.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	// Before all else: what an older crawl has left is not to be looked at while it runs.
	if err := lock(s.log); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", cfg.state, err), s.log.Close())
	}
	if s.seen, err = persist.Open(filepath.Join(cfg.state, "seen.map"), cfg.n, cfg.p); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	if err := s.replay(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.log.Name(), err), s.log.Close(), s.seen.Close())
	}
	return s, nil
}

// title is the log's first line. A crawl with another depth limit would need the
// links that this one did not follow.
func (cfg config) title() string {
	return fmt.Sprintf("crawl depth %d from %s", cfg.depth, joinTargets(cfg.starts))
}

// replay reads the log, and cuts off what a kill left of its last line.
func (s *state) replay(cfg config) error {
	var whole int64
	waiting := map[int64]page{}
	for r := bufio.NewReader(s.log); ; {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\n")
		if whole == 0 && line != cfg.title() {
			return fmt.Errorf("it is of a %s, want %s", line, cfg.title())
		}
		if whole > 0 {
			if err := s.replayLine(line, waiting); err != nil {
				return fmt.Errorf("at byte %d: %w", whole, err)
			}
		}
		whole += int64(len(line)) + 1
	}
	if err := s.log.Truncate(whole); err != nil {
		return err
	}
	if whole == 0 {
		s.write(cfg.title())
	}
	for _, p := range waiting {
		s.pending = append(s.pending, p)
	}
	slices.SortFunc(s.pending, func(a, b page) int { return cmp.Compare(a.id, b.id) })
	// Two workers that found a page at the same time may both have written it.
	queued := map[target]bool{}
	s.pending = slices.DeleteFunc(s.pending, func(p page) bool {
		again := queued[p.target]
		queued[p.target] = true
		if again {
			s.done(p)
		}
		return again
	})
	return s.err
}

func (s *state) replayLine(line string, waiting map[int64]page) error {
	var sign rune
	var id int64
	var p page
	if _, err := fmt.Sscanf(line, "%c%d", &sign, &id); err != nil {
		return fmt.Errorf("line %q: %w", line, err)
	}
	switch sign {
	case '-':
		delete(waiting, id)
		return nil
	case '+':
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 3 {
			break
		}
		if _, err := fmt.Sscanf(fields[1], "%d", &p.depth); err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
		t, err := resolve(&url.URL{}, fields[2])
		if err != nil || t.String() != fields[2] {
			break
		}
		p.target, p.id = t, id
		waiting[id] = p
		s.lastID.Store(max(s.lastID.Load(), id))
		s.earlier++
		s.seen.AddString(fields[2]) // the kill may have come between the log and the filter
		return nil
	}
	return fmt.Errorf("line %q, want + or - and a page", line)
}

// add queues a page in the log if it is definitely new and this call is the one
// that added it to the filter. It gives the page its number.
func (s *state) add(p *page) bool {
	if s.seen.ContainsString(p.String()) {
		return false // as most are, and needs no line
	}
	p.id = s.lastID.Add(1)
	if !s.write(fmt.Sprintf("+%d %d %s", p.id, p.depth, p)) {
		return false
	}
	if !s.seen.AddString(p.String()) {
		s.done(*p) // another worker was faster
		return false
	}
	return true
}

// done says that a page is done with: all its links were offered to add.
func (s *state) done(p page) { s.write(fmt.Sprintf("-%d", p.id)) }

// write appends a line in one call, so that a kill leaves all of it or cuts the
// last one. It returns false if that or an earlier one failed.
func (s *state) write(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_, s.err = s.log.Write(append([]byte(line), '\n'))
	}
	return s.err == nil
}

// failed reports whether a line could not be written.
func (s *state) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// close makes all safe against a power cut, and returns the first error that there
// was.
func (s *state) close() error {
	return errors.Join(s.err, s.seen.Sync(), s.log.Sync(), s.seen.Close(), s.log.Close())
}
