package main

import (
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

var buildHelp = `Makes a filter of keys and writes it to a file.

With -o - the filter goes to standard output, as what is said of it goes to standard
error.

-n is how many different keys the filter will hold, later ones counted in: beyond it the
filter never misses either, but its rate rises above -p. Without -n the files are read
twice, and the filter is made for as many keys as there are lines in them; there must be at
least one, and standard input and pipes need -n.

Choose -p by what a wrong "probably in" costs: 0.01 where it is an unnecessary lookup, 1e-6
where a key would be lost. Each further factor of ten costs 4.8 bits a key. bloom size
shows it for your numbers.

--hash rapidhash-v3 makes a filter that programs ask faster. As with murmur3, whoever chooses
the keys can make them collide (see bloom help secrets).

With --format the file is one for another program, and the filter the one that it would
make of the same -n and -p. For Java's Guava keys are strings under stringFunnel(UTF_8). For
a Parquet column of numbers --type says which, and keys are their digits.

Formats:
` + formatsHelp()

func newBuild(e *env) *cobra.Command {
	var pl plan
	var key secret
	in := input{env: e}
	var out, as, typ string
	var force bool
	cmd := &cobra.Command{
		Use:   "build -o FILE [-n KEYS] [-p RATE] [INPUT ... | -k KEY ...]",
		Short: "make a filter of the keys in files or standard input",
		Long:  buildHelp,
		Example: `  bloom build -n 1e6 -p 0.001 -o seen.bloom urls.txt.gz
  bloom build -o words.bloom words.txt
  bloom build --format guava -n 1e6 -p 0.03 -o for-java.bin urls.txt
  find . -print0 | bloom build -0 -n 1e5 -o files.bloom
  bloom build -n 1000 -o two.bloom -k first -k second
  bloom build --hash rapidhash-v3 -s blocked -n 1e6 -o fast.bloom urls.txt
  bloom build -n 1e6 -o - urls.txt | ssh host 'cat > seen.bloom'`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			opts, err := pl.options(&key)
			if err != nil {
				return err
			}
			release, err := claim(e, out, force)
			if err != nil {
				return err
			}
			defer release()
			to, err := formatNamed(as)
			if err != nil {
				return err
			}
			if pl.n == 0 {
				if err := in.countInto(&pl.n, inputs); err != nil {
					return err
				}
			}
			// What the other program would make, unless a strategy is asked for.
			var f any
			if to.make != nil && !cmd.Flags().Changed("strategy") {
				f, err = to.make(uint64(pl.n), float64(pl.p), opts)
			} else {
				f, err = pl.filter(opts)
			}
			if err != nil {
				return err
			}
			// To learn only after hours that the format has no such filter would be late.
			if err := to.writeAny(io.Discard, f); err != nil {
				return err
			}
			if err := fill(e, &in, keeperOf(f), typ, inputs); err != nil {
				return err
			}
			return save(e, out, f, to)
		},
	}
	pl.flags(cmd, 0.01, bloom.DoubleHashing)
	pl.hashFlag(cmd)
	key.flags(cmd)
	in.flags(cmd)
	in.keyFlag(cmd)
	outputFlags(cmd, &out, &force)
	formatFlag(cmd, &as)
	typeFlag(cmd, &typ)
	return cmd
}

const addHelp = `Adds keys to the filter in a file, and says how many of them were new. The file is
replaced when all keys are in: until then it stays as it was, also for those who ask
it meanwhile. A second add to the same file waits until the first one has written it, and
no keys are lost; FILE.lock is there meanwhile. FILE must be a file, not - for standard
input. The filter of a Parquet column of numbers needs --type, and keys are their digits.`

func newAdd(e *env) *cobra.Command {
	var key secret
	in := input{env: e}
	var typ string
	cmd := &cobra.Command{
		Use:     "add FILE [INPUT ...]",
		Short:   "add keys to the filter in a file",
		Long:    addHelp,
		Example: "  bloom add seen.bloom today.txt\n  bloom add seen.bloom -k https://go.dev/",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantFile(args[0]); err != nil {
				return err
			}
			release, err := lock(e, args[0])
			if err != nil {
				return err
			}
			defer release()
			f, format, err := open(e, args[0], &key)
			if err != nil {
				return err
			}
			if format.write == nil {
				return errNotWritten(args[0], format)
			}
			if err := checkWritable(args[0]); err != nil {
				return err
			}
			if err := fill(e, &in, keeperOf(f), typ, args[1:]); err != nil {
				return err
			}
			return save(e, args[0], f, format)
		},
	}
	key.flags(cmd)
	in.flags(cmd)
	in.keyFlag(cmd)
	typeFlag(cmd, &typ)
	return cmd
}

// fill adds the keys, values of the named type, and says what has become of them.
func fill(e *env, in *input, f keeper, typ string, files []string) error {
	t, err := valueTypeOf(typ, f, nil)
	if err != nil {
		return err
	}
	values := encoder{valueType: t}
	shown := newProgress(e, "new", files, false)
	err = in.each(files, shown, func(lines [][]byte) error {
		keys, err := values.encode(lines)
		if err != nil {
			return err
		}
		added, err := f.AddMany(keys, nil)
		shown.count(len(keys), added)
		return err
	})
	shown.stop()
	if err != nil {
		return err
	}
	s := f.Stats()
	fmt.Fprintf(e.stderr, "%s keys read, %s of them definitely new; the filter now holds %s\n",
		grouped(shown.keys.Load()), grouped(shown.yes.Load()), holds(s.EstimatedCount))
	warn(e, s)
	return nil
}

// warn says so if a filter holds more than it was made for.
func warn(e *env, s bloom.Stats) {
	if overP(s) {
		fmt.Fprintf(e.stderr, "bloom: warning: the filter was made for %s keys at a rate of %v and holds %s: its rate is now %.2g\n",
			grouped(s.N), s.P, holds(s.EstimatedCount), s.EstimatedFalsePositiveRate)
	}
}

// overload is the load above which there is a warning: the count is an estimate, and its
// noise should not cause one at exactly n.
const overload = 1.05
