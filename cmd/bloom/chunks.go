package main

import (
	"sync"
	"sync/atomic"
)

// A chunk is some of the keys, in memory of its own, so that they can be read, looked up and
// printed by three goroutines at the same time.
type chunk struct {
	text  []byte   // the keys, each with its end
	keys  [][]byte // those in text, without it
	added []bool   // which were new
	count int      // and how many

	// Of parallelAdder.
	positions      []uint64 // of one key
	baskets        []basket // one for each range
	left           atomic.Int32
	prepared, done chan struct{}
}

// fill takes over as many of the keys as there is room for, and returns the others.
func (c *chunk) fill(keys [][]byte, delim byte) (rest [][]byte) {
	n := min(len(keys), maxChunk)
	size := 0
	for _, key := range keys[:n] {
		size += len(key) + 1
	}
	if cap(c.text) < size {
		c.text = make([]byte, 0, size)
	}
	c.text, c.keys, c.added = c.text[:0], c.keys[:0], resize(c.added, n)
	for _, key := range keys[:n] {
		start := len(c.text)
		c.text = append(append(c.text, key...), delim)
		c.keys = append(c.keys, c.text[start:len(c.text)-1])
	}
	return keys[n:]
}

// pipeline reads keys in chunks, has each worked on and then printed, in order. What is to be
// done with a chunk begins while the one before it is printed and the next one is read, and
// does not wait for input that has not come. The error is the first one; if work or print has
// one, the keys that are still to come are not waited for. print is called for every chunk that
// work was called for.
func (in *input) pipeline(files []string, shown *progress, work, print func(c *chunk) error) error {
	free, full, done := make(chan *chunk, inFlight), make(chan *chunk, inFlight), make(chan *chunk, inFlight)
	for range inFlight {
		free <- new(chunk)
	}
	stop := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		defer close(full)
		read <- in.each(files, shown, func(keys [][]byte) error {
			for len(keys) > 0 {
				select {
				case c := <-free:
					keys = c.fill(keys, in.delim())
					full <- c
				case <-stop:
					return errEnough
				}
			}
			return nil
		})
	}()
	var printing sync.WaitGroup
	var printed error
	failed := make(chan struct{})
	printing.Go(func() {
		for c := range done {
			if err := print(c); err != nil && printed == nil {
				printed = err
				close(failed)
			}
			free <- c
		}
	})
	var worked error
	for going := true; going && worked == nil; {
		select {
		case c, ok := <-full:
			if going = ok; ok {
				worked = work(c)
				done <- c
			}
		case <-failed:
			going = false
		}
	}
	close(stop)
	close(done)
	printing.Wait()
	switch {
	case printed != nil:
		return printed
	case worked != nil:
		return worked
	}
	return <-read
}
