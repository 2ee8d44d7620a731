package main

import (
	"io"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/spf13/cobra"
)

const buildHelp = `Makes a filter of keys and writes it to a file.

-n is the number of distinct keys that the filter will hold, later additions
included. Beyond it no key is missed, but the rate rises above -p. Without -n,
the files are read twice and their lines counted.

Choose -p by the cost of a wrong "probably in": 0.01, the default, for an
unnecessary lookup, 1e-6 for a lost key (see bloom size). If strangers choose
the keys, use --secret-file (see bloom help secrets).

The strategy is blocked and the hash rapidhash-v3, the fastest to fill. For a
rate that one of them cannot reach it is double-hashing or murmur3 instead,
which are the defaults of Go programs.

--format writes a file for another program, with the filter that program would
make of -n and -p (see bloom help formats).`

func newBuild(e *env) *cobra.Command {
	o := newCommand(e, &cobra.Command{
		Use:   "build -o FILE [-n KEYS] [-p RATE] [INPUT ... | -k KEY ...]",
		Short: "make a filter of the lines of files or standard input",
		Long:  buildHelp,
		Example: `  bloom build -n 1M -p 0.1% -o seen.bloom urls.txt.gz
  bloom build --format guava -n 1M -p 3% -o for-java.bin urls.txt
  bloom build -n 1M -o - urls.txt | ssh host 'cat > seen.bloom'`,
	}, "number rate strategy hash secret-file null field delimiter key output force format quiet")
	o.p = 0.01
	return o.runs(func(files []string) error {
		release, err := o.claim()
		if err != nil {
			return err
		}
		defer release()
		if o.n == 0 {
			if o.n, err = o.count(files); err != nil {
				return err
			}
		}
		f, err := o.newFilter()
		if err != nil {
			return err
		}
		// A format that cannot hold this filter refuses it here, while it is empty, before the keys are read.
		if err := o.format.Write(io.Discard, f); err != nil {
			return err
		}
		if err := o.fill(f, files); err != nil {
			return err
		}
		return save(e, o.output, f, o.format)
	})
}

// newFilter makes the empty filter for the flags. Without --strategy, it is the filter that a program of the chosen
// format would make.
func (o *command) newFilter() (filterfile.Filter, error) {
	if o.given("strategy") || o.format.Create == nil {
		return o.plain()
	}
	opts, err := o.hashing()
	if err != nil {
		return nil, err
	}
	return o.format.Create(o.n, o.p, opts)
}
