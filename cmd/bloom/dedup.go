package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const dedupHelp = `Prints the first line of each distinct key, in order, in constant memory. It
prints a line before it waits for more input.

A new key is taken for an old one, and its line dropped, at a rate of at most
-p, for at most -n distinct keys. At one more, dedup stops with status 3. With
--overfull it goes on and drops more and more.

--filter keeps the keys in a file from one run to the next. The first run makes
it of -n and -p; later runs may leave these out. It is written at the end:
after an error or an interrupt the file is as before, and the next run prints
the same lines again.`

func newDedup(e *env) *cobra.Command {
	pl := plan{n: 10_000_000}
	var key secret
	d := deduper{env: e, in: &input{env: e}}
	var path string
	cmd := &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct line once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup -f 1 a.log                      # the first line of each client
  bloom dedup --filter known.bloom -n 1M today.txt > new-today.txt`,
		RunE: func(cmd *cobra.Command, files []string) error {
			err := d.in.check(files)
			if err != nil {
				return err
			}
			opts, err := pl.options(&key)
			if err != nil {
				return err
			}
			if path == "" {
				if d.filter, err = pl.filter(opts); err != nil {
					return err
				}
				return d.run(files)
			}
			release, err := lock(e, path)
			if err != nil {
				return err
			}
			defer release()
			kept := native
			if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
				d.filter, err = pl.filter(opts)
			} else if d.filter, kept, err = load(e, path, &key); err == nil {
				d.kept = true
				err = pl.agree(cmd, path, d.filter)
			}
			if err != nil {
				return err
			}
			if kept.write == nil || kept.name == redisbloom { // a plain filter has no growth
				return errNotWritten(path, kept)
			}
			if err := checkWritable(path); err != nil {
				return err
			}
			if err := d.run(files); err != nil {
				return err
			}
			return save(e, path, d.filter, kept)
		},
	}
	pl.flags(cmd, 1e-6, bloom.Blocked)
	pl.hashFlag(cmd)
	key.flags(cmd)
	d.in.flags(cmd)
	quietFlag(cmd, &d.quiet)
	cmd.Flags().StringVar(&path, "filter", "", "`FILE` that keeps the keys from one run to the next")
	cmd.Flags().BoolVar(&d.overfull, "overfull", false, "go on beyond -n distinct keys")
	return cmd
}

// errOverfull says that there are more keys than planned.
var errOverfull = errors.New("overfull")

// A deduper prints the lines whose keys are new to a filter, and adds the keys.
type deduper struct {
	env             *env
	in              *input
	filter          *bloom.BloomFilter
	quiet, overfull bool
	kept            bool // the filter comes from a file

	promised *promise
	counting sync.WaitGroup // chunks whose new keys are not in promised yet
	sure     uint64         // keys that fit the promise even if all of them are new
	shown    *progress
	out      *bufio.Writer
}

func (d *deduper) run(files []string) error {
	d.promised = &promise{scheme: d.filter.Scheme()}
	if d.kept {
		d.promised.before = d.filter.Stats().EstimatedCount
	}
	d.out = bufio.NewWriterSize(d.env.stdout, bufferSize)
	d.shown = &progress{}
	if !d.quiet {
		d.shown = newProgress(d.env, "distinct", files, true)
	}
	err := d.pipeline(files)
	d.shown.stop()
	if err != nil && err != errOverfull {
		return err
	}
	missing := showMissing(d.promised.missing(d.filter))
	if err == errOverfull {
		return fmt.Errorf("%w: line %s has a new key, and the filter was made for %s; of the new lines before it, %s may be missing; want a larger -n, or --overfull",
			errOverfull, grouped(d.shown.keys.Load()+1), grouped(d.promised.scheme.Params().N), missing)
	}
	if d.promised.left() == 0 {
		warn(d.env, d.filter.Stats())
	}
	if !d.quiet {
		read, printed := d.shown.keys.Load(), d.shown.yes.Load()
		fmt.Fprintf(d.env.stderr, "%s lines read, %s printed, %s dropped (of these, %s new)\n", grouped(read), grouped(printed), grouped(read-printed), missing)
	}
	return nil
}

// pipeline reads, adds and prints chunks of lines in three stages at once, in order. It returns
// the first error. It prints every chunk that was added, and after an error it does not wait for
// more input.
func (d *deduper) pipeline(files []string) error {
	adder := newParallelAdder(d.filter, runtime.GOMAXPROCS(0))
	defer adder.close()
	free, full, done := make(chan *chunk, inFlight), make(chan *chunk, inFlight), make(chan *chunk, inFlight)
	for range inFlight {
		free <- new(chunk)
	}
	stop := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		defer close(full)
		read <- d.in.each(files, d.shown, func(lines [][]byte) error {
			for len(lines) > 0 {
				select {
				case c := <-free:
					lines = c.fill(d.in, lines)
					full <- c
				case <-stop:
					return errEnough
				}
			}
			return nil
		})
	}()
	var printing sync.WaitGroup
	var printed, added error
	failed := make(chan struct{})
	printing.Go(func() {
		for c := range done {
			if err := d.print(c); err != nil && printed == nil {
				printed = err
				close(failed)
			}
			free <- c
		}
	})
	for going := true; going && added == nil; {
		select {
		case c, ok := <-full:
			if going = ok; ok {
				added = d.add(adder, c)
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
	case added != nil:
		return added
	}
	return <-read
}

// add starts to add the keys of a chunk. If the promise may not cover them, it adds them one after
// the other, up to the first that it does not cover.
func (d *deduper) add(adder *parallelAdder, c *chunk) error {
	if n := uint64(len(c.keys)); !d.overfull && d.sure < n {
		d.counting.Wait()
		if d.sure = d.promised.left(); d.sure < n {
			d.sure = 0
			return d.addSome(c)
		}
	}
	d.sure -= uint64(len(c.keys))
	d.counting.Add(1)
	adder.start(c)
	return nil
}

func (d *deduper) addSome(c *chunk) error {
	c.done = nil
	clear(c.added)
	for i, key := range c.keys {
		if d.promised.left() == 0 && !d.filter.Contains(key) { // a present key needs no promise
			return errOverfull
		}
		c.added[i] = d.filter.Add(key)
		d.count(1, c.added[i:i+1])
	}
	return nil
}

func (d *deduper) count(keys int, added []bool) {
	n := 0
	for _, is := range added {
		if is {
			n++
		}
	}
	d.promised.added += uint64(n)
	d.shown.count(keys, n)
}

// print prints the new lines of a chunk, adjacent ones at once.
func (d *deduper) print(c *chunk) error {
	if c.done != nil {
		<-c.done
		d.count(len(c.keys), c.added)
		d.counting.Done()
	}
	start, at := 0, 0
	for i, line := range c.lines {
		if !c.added[i] {
			d.out.Write(c.text[start:at])
			start = at + len(line) + 1
		}
		at += len(line) + 1
	}
	d.out.Write(c.text[start:at])
	return d.out.Flush()
}

// A promise is a filter's rate of at most p for at most n keys.
type promise struct {
	scheme bloom.Scheme
	before uint64 // keys at the beginning, an estimate
	added  uint64 // since then
}

// left returns how many more keys the promise allows. A file of another program may promise
// nothing.
func (p *promise) left() uint64 {
	made := p.scheme.Params()
	if made.N == 0 && made.P == 0 {
		return math.MaxUint64
	}
	if sum := p.before + p.added; sum >= p.before && sum < made.N {
		return made.N - sum
	}
	return 0
}

// missing returns how many new keys were expectedly taken for old ones.
//
// A dropped key's bits were set before, so the rate is that of all keys, dropped ones included.
// While few keys are dropped, the midpoint method sums the rate over the added keys. Later the
// bits tell more.
func (p *promise) missing(f *bloom.BloomFilter) float64 {
	made := p.scheme.Params()
	rateAt := func(keys float64) float64 {
		return p.scheme.Strategy().FalsePositiveRate(made.M, made.K, uint64(keys))
	}
	if most := float64(p.added) * rateAt(float64(p.before+p.added)); most < 0.001 {
		return most // the sum takes 0.3 s in a filter of 100 MB
	}
	const steps = 32
	step, keys, missing := float64(p.added)/steps, float64(p.before), 0.0
	for range steps {
		rate := rateAt(keys + step/2)
		lost := step * rate / (1 - rate)
		missing += lost
		keys += step + lost
		if missing > float64(p.added)/20 {
			estimated := f.Stats().EstimatedCount
			if estimated == math.MaxUint64 {
				return math.Inf(1)
			}
			return max(missing, float64(estimated)-float64(p.before)-float64(p.added))
		}
	}
	return missing
}

// showMissing formats an expected number of lines.
func showMissing(lines float64) string {
	switch {
	case math.IsInf(lines, 0) || math.IsNaN(lines) || lines >= 1<<63:
		return "an unknown number"
	case lines < 0.001:
		return "fewer than 0.001"
	case lines < 10:
		return fmt.Sprintf("about %.1g", lines)
	}
	return "about " + grouped(uint64(math.Round(lines)))
}
