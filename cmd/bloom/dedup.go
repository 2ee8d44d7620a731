package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const dedupHelp = `Prints each distinct key once, in the order in which keys first come: sort -u without
the sort, in a memory that does not grow. A key is out before dedup waits for more input,
so it works behind tail -f.

The price is that a new key is taken for one seen before, and dropped, at a rate of at
most -p as long as there are at most -n distinct keys. At one more, dedup stops with
status 3 and says how many keys may be missing from what it has printed. With
--overfull=warn it goes on, drops more and more, and says so in the end.

With --verify nothing is missing: the inputs, which must be files, are read a second time,
and the keys that were dropped are printed last, however many there are. That takes memory
for each distinct key that comes more than once.

All cores are used, with the output of one. -s blocked is the fastest, -s double-hashing
needs a third less memory.

With --filter the keys are remembered in a file from one run to the next. It is made, with
-n and -p, if it does not exist. If it does, -n, -p and -s may be left out or must be those
that it was made with. The file is written when all keys are out: if dedup is stopped or
stops before that, the file stays as it was, and the next run prints the same keys again. It
must be a file, not - for standard input or output. A second dedup or add to the same file
waits for the first one.`

func newDedup(e *env) *cobra.Command {
	pl := plan{n: 10_000_000}
	var key secret
	in := input{env: e}
	var path string
	var verify bool
	overfull := choice{allowed: []string{"fail", "warn"}, value: "fail"}
	cmd := &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct key once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup --filter known.bloom -n 1e6 today.txt > new-today.txt
  bloom dedup --verify -n 1e6 urls.txt.gz > exact.txt`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			err := wantFile(path)
			if err != nil {
				return err
			}
			d := &deduper{env: e, in: &in, goOn: overfull.value == "warn" || verify}
			if verify {
				if err := checkVerify(&in, inputs); err != nil {
					return err
				}
				d.suspects = newSuspects()
			}
			if path == "" {
				if d.filter, err = pl.empty(&key); err != nil {
					return err
				}
				return d.run(inputs)
			}
			release, err := lock(e, path)
			if err != nil {
				return err
			}
			defer release()
			kept := native
			if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
				d.filter, err = pl.empty(&key)
			} else if d.filter, kept, err = load(e, path, &key); err == nil {
				err = pl.agree(cmd, path, d.filter)
			}
			if err != nil {
				return err
			}
			if kept.write == nil {
				return errNotWritten(path, kept)
			}
			if err := checkWritable(path); err != nil {
				return err
			}
			if err := d.run(inputs); err != nil {
				return err
			}
			return save(e, path, d.filter, kept)
		},
	}
	pl.flags(cmd, 1e-6, bloom.Blocked)
	key.flags(cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&path, "filter", "", "`file` that remembers the keys from one run to the next")
	cmd.Flags().Var(&overfull, "overfull", "what to do at more than -n distinct keys: fail, or warn in the end")
	complete(cmd, "overfull", overfull.allowed...)
	cmd.Flags().BoolVar(&verify, "verify", false, "read the inputs a second time, and print the keys that were dropped")
	cmd.MarkFlagsMutuallyExclusive("verify", "filter")
	return cmd
}

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
		warn(d.env, d.filter)
		fmt.Fprintf(d.env.stderr, "bloom: warning: of the distinct keys %s may be missing\n", d.missing())
	}
	return nil
}

func (d *deduper) missing() string {
	return showMissing(d.promised.missing(d.filter.EstimatedCount()))
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
