package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
)

// With a queue file, a crawl continues after it was stopped or killed. The file determines the queue and the keys of
// the filter. The first line has the start URLs and the depth. Each further line has a page that is done, and its new
// links. A page waits if it is a start or a link and is not done. A page with a temporary error is not written as done.
//
// With the filter in another file, pages would be lost: after a kill between two writes, the filter would have URLs
// that the queue lacks. Here a kill only makes the crawler fetch again the pages that were being fetched. After a power
// cut, it also fetches those whose lines were not on the disk. Only one process may use the file at a time.
type (
	header struct {
		Starts []string `json:"starts"`
		Depth  uint     `json:"depth"`
	}
	page struct {
		URL   string   `json:"url"`
		Error string   `json:"error,omitempty"` // why it could not be fetched
		Links []string `json:"links,omitempty"`

		Redirect string `json:"redirect,omitempty"` // target of a redirect, if new
	}
)

// useQueue opens or makes the file at path, and restores the queue and the filter from it. The start pages are queued
// already.
func (c *crawler) useQueue(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	c.file = file // open until the process ends
	first := header{Depth: c.depth}
	waits := map[string]place{}
	for _, at := range c.levels[0] {
		first.Starts = append(first.Starts, at.url.String())
		waits[at.url.String()] = at
	}
	want, err := json.Marshal(first)
	if err != nil {
		return err
	}
	whole := int64(0) // bytes of complete lines
	for lines, number := bufio.NewReader(file), 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		switch {
		case number == 1 && !strings.HasPrefix(string(want)+"\n", string(line)):
			return fmt.Errorf("%s is the queue of another crawl or no queue, it begins with %.200q, want %s", path, line, want)
		case err == io.EOF: // line is incomplete if a kill or a full disk has cut off the last write
			_, err = file.Seek(whole, io.SeekStart)
			err = errors.Join(err, file.Truncate(whole))
			if number == 1 && err == nil {
				err = c.writeLine(first)
			}
			c.restore(waits)
			return err
		case err != nil:
			return err
		case number > 1:
			if err := c.redo(line, waits); err != nil {
				return fmt.Errorf("%s, line %d: %w", path, number, err)
			}
		}
		whole += int64(len(line))
	}
}

// redo records a page that was done in an earlier run.
func (c *crawler) redo(line []byte, waits map[string]place) error {
	var p page
	if err := json.Unmarshal(line, &p); err != nil {
		return err
	}
	at, ok := waits[p.URL]
	if !ok || at.depth == c.depth && len(p.Links) > 0 {
		return fmt.Errorf("%q is done, and no line before led to it", p.URL)
	}
	delete(waits, p.URL)
	c.count(p)
	lead := func(link string, to place) (err error) {
		if to.url, err = normalize(&url.URL{}, link); err == nil {
			c.seen.AddString(link)
			waits[link] = to
		}
		return err
	}
	for _, link := range p.Links {
		if err := lead(link, place{depth: at.depth + 1}); err != nil {
			return err
		}
	}
	if p.Redirect != "" {
		return lead(p.Redirect, place{depth: at.depth, hops: at.hops + 1})
	}
	return nil
}

// restore queues these pages instead of all others.
func (c *crawler) restore(waits map[string]place) {
	clear(c.levels)
	c.queued = len(waits) + int(c.fetched.Load()+c.failed.Load())
	for _, link := range slices.Sorted(maps.Keys(waits)) {
		at := waits[link]
		c.levels[at.depth] = append(c.levels[at.depth], at)
	}
}

// writeLine appends a line to the file. A kill does not undo a Write.
func (c *crawler) writeLine(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = c.file.Write(append(line, '\n'))
	}
	return err
}
