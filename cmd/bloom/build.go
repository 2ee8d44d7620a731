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
	var pl plan
	var key secret
	in := input{env: e}
	var out output
	var as string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "build -o FILE [-n KEYS] [-p RATE] [INPUT ... | -k KEY ...]",
		Short: "make a filter of the lines of files or standard input",
		Long:  buildHelp,
		Example: `  bloom build -n 1M -p 0.1% -o seen.bloom urls.txt.gz
  bloom build --format guava -n 1M -p 3% -o for-java.bin urls.txt
  bloom build -f 7 -n 1M -o paths.bloom a.log
  bloom build -n 1M -o - urls.txt | ssh host 'cat > seen.bloom'`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := in.check(files); err != nil {
				return err
			}
			opts, err := pl.options(&key)
			if err != nil {
				return err
			}
			to, err := formatNamed(as)
			if err != nil {
				return err
			}
			release, err := out.claim(e, to)
			if err != nil {
				return err
			}
			defer release()
			if pl.n == 0 {
				if err := in.countInto(&pl.n, files); err != nil {
					return err
				}
			}
			var f any
			if to.make != nil && !pl.strategy.given {
				f, err = to.make(uint64(pl.n), float64(pl.p), opts)
			} else {
				f, err = pl.filter(opts)
			}
			if err != nil {
				return err
			}
			// A format without such filters refuses the empty filter, too.
			if err := to.writeAny(io.Discard, f); err != nil {
				return err
			}
			if err := fill(e, &in, keeperOf(f), files, quiet); err != nil {
				return err
			}
			return save(e, out.path, f, to)
		},
	}
	pl.flags(cmd, 0.01, bloom.DoubleHashing)
	pl.hashFlag(cmd)
	key.flags(cmd)
	in.flags(cmd)
	in.keyFlag(cmd)
	out.flags(cmd)
	formatFlag(cmd, &as, native.name)
	quietFlag(cmd, &quiet)
	needs(cmd, "output")
	return cmd
}

const addHelp = `Adds keys to the filter in a file and says how many were new. The file is
replaced when all keys are in. Until then it stays as it was. A second add to
the same file waits for the first; meanwhile FILE.lock exists.`

func newAdd(e *env) *cobra.Command {
	var key secret
	in := input{env: e}
	var quiet bool
	cmd := &cobra.Command{
		Use:     "add FILE [INPUT ... | -k KEY ...]",
		Short:   "add keys to the filter in a file",
		Long:    addHelp,
		Example: "  bloom add seen.bloom today.txt\n  bloom add seen.bloom -k https://go.dev/",
		Args:    wantArgs(1, 0, "the FILE of a filter"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, files := args[0], args[1:]
			if err := in.check(files); err != nil {
				return err
			}
			release, err := lock(e, path)
			if err != nil {
				return err
			}
			defer release()
			f, format, err := open(e, path, &key)
			if err != nil {
				return err
			}
			if format.write == nil {
				return errNotWritten(path, format)
			}
			if err := checkWritable(path); err != nil {
				return err
			}
			if err := fill(e, &in, keeperOf(f), files, quiet); err != nil {
				return err
			}
			return save(e, path, f, format)
		},
	}
	key.flags(cmd)
	in.flags(cmd)
	in.keyFlag(cmd)
	quietFlag(cmd, &quiet)
	return cmd
}

// quietFlag adds the flag that silences the summary.
func quietFlag(cmd *cobra.Command, quiet *bool) {
	cmd.Flags().BoolVarP(quiet, "quiet", "q", false, "print no progress and no summary, only warnings")
}

// fill adds the keys and prints a summary.
func fill(e *env, in *input, f keeper, files []string, quiet bool) error {
	shown := &progress{}
	if !quiet {
		shown = newProgress(e, "new", files, false)
	}
	var keys [][]byte
	err := in.each(files, shown, func(lines [][]byte) error {
		keys = in.keysOf(keys[:0], lines)
		added, err := f.AddMany(keys, nil)
		shown.count(len(keys), added)
		return err
	})
	shown.stop()
	if err != nil {
		return err
	}
	s := f.Stats()
	if !quiet {
		fmt.Fprintf(e.stderr, "%s keys read, %s definitely new; the filter now holds %s\n",
			grouped(shown.keys.Load()), grouped(shown.yes.Load()), holds(s.EstimatedCount))
	}
	warn(e, s)
	return nil
}

// warn prints a warning if a filter holds more than it was made for.
func warn(e *env, s bloom.Stats) {
	if overP(s) {
		fmt.Fprintf(e.stderr, "bloom: warning: the filter was made for %s keys at a rate of %v and holds %s: its rate is now %.2g\n",
			grouped(s.N), s.P, holds(s.EstimatedCount), s.EstimatedFalsePositiveRate)
	}
}

// overP reports whether a filter holds more keys than planned. The count is an estimate: its noise
// at n keys stays below 5 %.
func overP(s bloom.Stats) bool { return s.Load() > 1.05 }
