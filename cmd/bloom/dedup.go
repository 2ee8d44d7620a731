package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"

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
	overfull := choice{allowed: []string{"fail", "warn"}, value: "fail"}
	cmd := &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct key once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup --filter seen.bloom -n 1e8 today.txt > new-today.txt`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if err := wantFile(path); err != nil {
				return err
			}
			if path == "" {
				f, err := pl.empty(&key)
				if err != nil {
					return err
				}
				return (&deduper{env: e, in: &in, filter: f, goOn: overfull.value == "warn"}).run(inputs)
			}
			release, err := lock(e, path)
			if err != nil {
				return err
			}
			defer release()
			kept := native
			var f *bloom.BloomFilter
			if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
				f, err = pl.empty(&key)
			} else {
				if f, kept, err = load(e, path, &key); err == nil {
					err = pl.agree(cmd, path, f)
				}
			}
			if err != nil {
				return err
			}
			if err := checkWritable(path); err != nil {
				return err
			}
			if err := (&deduper{env: e, in: &in, filter: f, goOn: overfull.value == "warn"}).run(inputs); err != nil {
				return err
			}
			return save(e, path, f, kept)
		},
	}
	pl.flags(cmd, 1e-6)
	key.flags(cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&path, "filter", "", "`file` that remembers the keys from one run to the next")
	cmd.Flags().Var(&overfull, "overfull", "what to do at more than -n distinct keys: fail, or warn in the end")
	complete(cmd, "overfull", overfull.allowed...)
	return cmd
}

// errOverfull is that there are more keys than the filter was made for.
var errOverfull = errors.New("overfull")

// A deduper prints the keys that are new to a filter, and adds them.
type deduper struct {
	env      *env
	in       *input
	filter   *bloom.BloomFilter
	goOn     bool // past what the filter was made for
	promised *promise
	adder    *parallelAdder
	shown    *progress
	out      *bufio.Writer
}

func (d *deduper) run(files []string) error {
	d.promised = promiseOf(d.filter)
	d.adder = newParallelAdder(d.filter)
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
	if d.promised.broken() {
		warn(d.env, d.filter)
		fmt.Fprintf(d.env.stderr, "bloom: warning: of the distinct keys %s may be missing\n", d.missing())
	}
	return nil
}

func (d *deduper) missing() string {
	return showMissing(d.promised.missing(d.filter.EstimatedCount()))
}

// add adds the keys of a chunk, up to the first one that the filter was not made for.
func (d *deduper) add(c *chunk) error {
	if d.goOn || d.promised.left() >= uint64(len(c.keys)) {
		d.count(len(c.keys), d.adder.add(c.keys, c.added))
		return nil
	}
	keys, added := c.keys, c.added
	clear(added)
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
