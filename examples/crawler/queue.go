package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gofrs/flock"
)

// A page is a line of the queue file: a page that is done, and the new pages to which it led. The first line has the
// start pages and the depth. A page waits if it is a start or a link and has no line. So the file determines the queue
// and the keys of the filter.
//
// With the filter in another file, pages would be lost: after a kill between two writes, the filter would have URLs
// that the queue lacks. Here a kill only makes the crawler fetch again the pages that were being fetched. After a power
// cut, it also fetches again the pages whose lines were not on the disk.
type page struct {
	URL      string   `json:"url"`
	Result   string   `json:"result"`
	Links    []string `json:"links,omitempty"`
	Redirect bool     `json:"redirect,omitempty"` // the page redirects to the only link
}

// openQueue opens or makes the file at path, and restores the queue and the filter from it. It locks path+".lock".
func (c *crawler) openQueue(path string, starts []string) (err error) {
	c.lock = flock.New(path + ".lock")
	if locked, err := c.lock.TryLock(); err != nil || !locked {
		return errors.Join(fmt.Errorf("%s.lock is locked by another crawler, or cannot be locked", path), err)
	}
	if c.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return err
	}
	first, err := json.Marshal(map[string]any{"starts": starts, "depth": c.depth})
	if err != nil {
		return err
	}
	waits := map[string]place{}
	for _, start := range starts {
		waits[start] = place{url: start}
	}
	whole := int64(0) // bytes of complete lines
	for lines, number := bufio.NewReader(c.file), 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		switch {
		case number == 1 && !strings.HasPrefix(string(first)+"\n", string(line)):
			return fmt.Errorf("%s is the queue of another crawl or no queue, it begins with %.200q, want %s", path, line, first)
		case err == io.EOF: // line is incomplete if a kill or a full disk has cut off the last write
			for _, at := range waits { // in another order each time, or the same failing pages could always come first
				c.enqueue(at)
			}
			if err = c.file.Truncate(whole); number == 1 && err == nil {
				err = c.writeLine(json.RawMessage(first))
			}
			return err
		case err == nil && number > 1:
			err = c.redo(line, waits)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", path, number, err)
		}
		whole += int64(len(line))
	}
}

// redo restores the crawler from a line of the queue file: its page is done, and its links are in the filter and wait.
func (c *crawler) redo(line []byte, waits map[string]place) error {
	var p page
	if err := json.Unmarshal(line, &p); err != nil {
		return err
	}
	at, ok := waits[p.URL]
	if !ok {
		return fmt.Errorf("%q is done, and no line before led to it", p.URL)
	}
	delete(waits, p.URL)
	c.pages[kind(p.Result)]++
	for _, link := range p.Links {
		next := at.next(link, p.Redirect)
		if next.depth > c.depth || c.hostOf(next) == nil {
			return fmt.Errorf("%q is no page of this crawl", link)
		}
		c.seen.AddString(link)
		waits[link] = next
	}
	return nil
}

// writeLine appends a line to the file. Once Write has returned, a kill cannot undo it.
func (c *crawler) writeLine(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = c.file.Write(append(line, '\n'))
	}
	return err
}

// close closes and unlocks the queue file, so that other processes may use it.
func (c *crawler) close() { _ = errors.Join(c.file.Close(), c.lock.Close()) }
