package main

import (
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const buildHelp = `Makes a filter of keys and writes it to a file.

-n is the number of distinct keys that the filter will hold, later additions
included. Beyond it no key is missed, but the rate rises above -p. Without -n,
the files are read twice and their lines counted.

Choose -p by the cost of a wrong "probably in": 0.01 for an unnecessary lookup,
1e-6 for a lost key. Each factor of ten costs 4.8 bits per key (see bloom
size).

--format writes a file for another program, with the filter that program would
make of -n and -p (see bloom help formats).`

func newBuild(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:   "build -o FILE [-n KEYS] [-p RATE] [INPUT ... | -k KEY ...]",
		Short: "make a filter of the lines of files or standard input",
		Long:  buildHelp,
		Example: `  bloom build -n 1M -p 0.1% -o seen.bloom urls.txt.gz
  bloom build --format guava -n 1M -p 3% -o for-java.bin urls.txt
  bloom build -f 7 -n 1M -o paths.bloom a.log
  bloom build -n 1M -o - urls.txt | ssh host 'cat > seen.bloom'`,
	}, "number rate strategy hash key-file null field delimiter key output! force format quiet", (*options).build)
}

func (o *options) build(files []string) error {
	opts, err := o.hashing()
	if err != nil {
		return err
	}
	to, err := formatNamed(o.format)
	if err != nil {
		return err
	}
	release, err := o.claim(to)
	if err != nil {
		return err
	}
	defer release()
	if o.n == 0 {
		if err := o.countKeys(files); err != nil {
			return err
		}
	}
	var f any
	if to.make != nil && !o.given("strategy") {
		f, err = to.make(uint64(o.n), float64(o.p), opts)
	} else {
		f, err = o.newFilter(opts)
	}
	if err != nil {
		return err
	}
	// A format without such filters refuses the empty filter, too.
	if err := to.writeAny(io.Discard, f); err != nil {
		return err
	}
	if err := o.fill(f, files); err != nil {
		return err
	}
	return o.save(o.output, f, to)
}

const addHelp = `Adds keys to the filter in a file and says how many were new. The file is
replaced when all keys are in. Until then it stays as it was. A second add to
the same file waits for the first, which holds a lock on FILE.lock.`

func newAdd(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:     "add FILE [INPUT ... | -k KEY ...]",
		Short:   "add keys to the filter in a file",
		Long:    addHelp,
		Example: "  bloom add seen.bloom today.txt\n  bloom add seen.bloom -k https://go.dev/",
		Args:    wantArgs(1, manyArgs, "the FILE of a filter"),
	}, "key-file null field delimiter key quiet", (*options).add)
}

func (o *options) add(args []string) error {
	path, files := args[0], args[1:]
	release, err := o.lock(path)
	if err != nil {
		return err
	}
	defer release()
	f, from, err := o.open(path)
	if err != nil {
		return err
	}
	if from.write == nil {
		return errOnlyRead(path, from)
	}
	if err := o.fill(f, files); err != nil {
		return err
	}
	return o.save(path, f, from)
}

// errOnlyRead says that a filter that was read cannot be written back.
func errOnlyRead(path string, from *format) error {
	return fmt.Errorf("%s: a %s filter is only read (see bloom help formats)", path, from.name)
}

// fill adds the keys and prints a summary.
func (o *options) fill(f any, files []string) error {
	add := adderTo(f)
	shown := o.progress("new", false)
	err := o.each(files, shown, false, func(c *chunk) error {
		added, err := add(c.keys)
		shown.add(len(c.keys), added)
		return err
	}, nil)
	shown.stop()
	if err != nil {
		return err
	}
	s := f.(filter).Stats()
	if !o.quiet {
		fmt.Fprintf(o.stderr, "%s keys read, %s definitely new; the filter now holds %s\n",
			grouped(shown.lines.Load()), grouped(shown.yes.Load()), holds(s.EstimatedCount))
	}
	o.warn(s)
	return nil
}

// warn prints a warning if a filter holds more than it was made for.
func (o *options) warn(s bloom.Stats) {
	if overP(s) {
		fmt.Fprintf(o.stderr, "bloom: warning: the filter was made for %s keys at a rate of %v and holds %s: its rate is now %.2g\n",
			grouped(s.N), s.P, holds(s.EstimatedCount), s.EstimatedFalsePositiveRate)
	}
}

// overP reports whether a filter holds more keys than planned. The count is an estimate: its noise
// at n keys stays below 5 %.
func overP(s bloom.Stats) bool { return s.Load() > 1.05 }
