package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

const checkHelp = `Prints the lines whose keys are probably in the filter, in order, or with -v
the lines whose keys are definitely not in. With -q it stops at the first such
line and prints none.

The exit status is grep's: 0 if a line was selected, 1 if none was, 2 after an
error. As with grep, a file that cannot be read is reported, and the others are
searched.

For a Parquet file, --column names one of the filters that bloom info lists.
Keys are numbers in digits for a column of numbers, and UUIDs or text of the
right length for a column of fixed-length bytes.`

func newCheck(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:   "check FILE [INPUT ... | -k KEY ...]",
		Short: "print the lines that are probably in a filter, or the others",
		Long:  checkHelp,
		Example: `  bloom check seen.bloom candidates.txt       # probably seen before
  bloom check -v seen.bloom candidates.txt    # definitely new
  bloom check -f 7 seen.bloom a.log           # lines of a log, by field 7
  bloom check -q seen.bloom -k "$url" && echo "probably seen"`,
		Args: wantArgs(1, manyArgs, "the FILE of a filter"),
	}, "key-file null field delimiter key column invert quiet count", (*options).lookUp)
}

// errEnough ends the reading: the rest cannot change the answer.
var errEnough = errors.New("enough")

func (o *options) lookUp(args []string) error {
	path, files := args[0], args[1:]
	if path == "-" && o.fromStdin(files) {
		return errors.New(`"-" for the filter and for the keys, want one of them in a file: standard input cannot be both`)
	}
	opened, _, err := o.open(path)
	if err != nil {
		return err
	}
	f, ok := opened.(filter)
	if !ok {
		return errorIn(path, errMany(opened))
	}
	print := o.printer(!o.invert)
	if o.quiet || o.count {
		print = nil
	}
	shown := o.progress("selected", !o.count)
	column, ofColumn := f.(columnFilter)
	err = o.each(files, shown, true, func(c *chunk) error {
		keys := c.keys
		if ofColumn {
			keys = nil
			for _, value := range c.keys {
				key, err := column.encode(value)
				if err != nil {
					return err
				}
				keys = append(keys, key)
			}
		}
		yes := f.ContainsMany(keys, c.yes)
		if o.invert {
			yes = len(keys) - yes
		}
		shown.add(len(keys), yes)
		if o.quiet && yes > 0 {
			return errEnough
		}
		return nil
	}, print)
	shown.stop()
	if err == errEnough {
		err = nil
	}
	if err != nil && err != errReported {
		return err
	}
	if o.count && !o.quiet {
		if _, err := fmt.Fprintln(o.stdout, shown.yes.Load()); err != nil {
			return err
		}
	}
	if err == nil && shown.yes.Load() == 0 {
		return errNotFound
	}
	return err
}
