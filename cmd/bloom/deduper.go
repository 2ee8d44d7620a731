package main

import (
	"bufio"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed3447c163/bloom"
)

// errOverfull is that there are more keys than the filter was made for.
var errOverfull = errors.New("overfull")

// A deduper prints the keys that are new to a filter, and adds them.
type deduper struct {
	env      *env
	in       *input
	filter   *bloom.BloomFilter
	goOn     bool      // past what the filter was made for
	suspects *suspects // nil unless they are to be verified
	adder    *parallelAdder

	promised *promise
	counting sync.WaitGroup // chunks whose new keys are not in promised yet
	sure     uint64         // keys that the promise holds for, whichever of those are new
	shown    *progress
	out      *bufio.Writer
}

func (d *deduper) run(files []string) error {
	d.promised = promiseOf(d.filter)
	d.adder = newParallelAdder(d.filter, runtime.GOMAXPROCS(0))
	defer d.adder.close()
	d.out = bufio.NewWriterSize(d.env.stdout, bufferSize)
	d.shown = newProgress(d.env, "distinct", files, true)
	err := d.in.pipeline(files, d.shown, d.add, d.print)
	d.shown.stop()
	if err == errOverfull {
		p := d.filter.Params()
		return fmt.Errorf("%w: key %s is a new one, and the filter was made for %s at a rate of %v; of the keys before it %s may be missing; want a larger -n, or --overfull=warn",
			errOverfull, grouped(d.shown.keys.Load()+1), grouped(p.N), p.P, d.missing())
	}
	if err != nil {
		return err
	}
	if d.suspects != nil {
		return d.verify(files)
	}
	if d.promised.broken() {
		warn(d.env, d.filter.Stats())
		fmt.Fprintf(d.env.stderr, "bloom: warning: of the distinct keys %s may be missing\n", d.missing())
	}
	return nil
}

func (d *deduper) missing() string {
	return showMissing(d.promised.missing(d.filter.Stats().EstimatedCount))
}

// add begins to add the keys of a chunk, or adds those up to the first one that the filter was
// not made for.
func (d *deduper) add(c *chunk) error {
	if n := uint64(len(c.keys)); !d.goOn && d.sure < n {
		d.counting.Wait()
		if d.sure = d.promised.left(); d.sure < n {
			return d.addSome(c)
		}
	}
	d.sure -= uint64(len(c.keys))
	d.counting.Add(1)
	d.adder.start(c)
	return nil
}

// addSome adds keys one after the other, as the filter was not made for all of them.
func (d *deduper) addSome(c *chunk) error {
	keys, added := c.keys, c.added
	clear(added)
	d.sure, c.done = 0, nil
	for len(keys) > 0 {
		left := d.promised.left()
		if left == 0 {
			break
		}
		now := int(min(left, uint64(len(keys))))
		d.count(now, d.filter.AddMany(keys[:now], added[:now]))
		keys, added = keys[now:], added[now:]
	}
	for i, key := range keys { // what is in already needs no promise
		if !d.filter.Contains(key) {
			d.shown.count(i, 0)
			return errOverfull
		}
	}
	d.shown.count(len(keys), 0)
	return nil
}

func (d *deduper) count(keys, added int) {
	d.promised.added += uint64(added)
	d.shown.count(keys, added)
}

// print prints the keys of a chunk that were new, those that follow each other at once.
func (d *deduper) print(c *chunk) error {
	if c.done != nil {
		<-c.done
		d.count(len(c.keys), c.count)
		d.counting.Done()
	}
	if d.suspects != nil {
		for i, key := range c.keys {
			d.suspects.add(key, c.added[i])
		}
	}
	for i, at := 0, 0; i < len(c.keys); {
		start := at
		for i < len(c.keys) && c.added[i] {
			at += len(c.keys[i]) + 1
			i++
		}
		d.out.Write(c.text[start:at])
		for i < len(c.keys) && !c.added[i] {
			at += len(c.keys[i]) + 1
			i++
		}
	}
	return d.out.Flush()
}

// verify prints the keys that were dropped.
func (d *deduper) verify(files []string) error {
	dropped, err := d.suspects.dropped(d.in, files)
	if err != nil {
		return err
	}
	for _, key := range dropped {
		d.out.WriteString(key)
		d.out.WriteByte(d.in.delim())
	}
	if len(dropped) > 0 {
		fmt.Fprintf(d.env.stderr, "bloom: %s distinct keys had been taken for others and are printed last\n", grouped(len(dropped)))
	}
	return d.out.Flush()
}
