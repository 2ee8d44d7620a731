package main

import (
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/spf13/cobra"
)

const checkHelp = `Prints the lines whose keys are probably in the filter, in order, or with -v
the lines whose keys are definitely not in. With -q it stops at the first such
line and prints none.

The exit status is grep's: 0 if a line was selected, 1 if none was, 2 after an
error. It ends at a file that cannot be read.

For a Parquet file, --column names one of the filters that bloom info lists.
Keys are values in text; a value that the column's type cannot hold is an error,
and nothing is printed of its line or of later ones.`

// errEnough ends the reading: the rest cannot change the answer.
var errEnough = errors.New("enough")

// A check is the command check.
type check struct {
	*command
	invert, counts bool
}

func newCheck(e *env) *cobra.Command {
	o := &check{command: newCommand(e, &cobra.Command{
		Use:   "check FILE [INPUT ... | -k KEY ...]",
		Short: "print the lines that are probably in a filter, or the others",
		Long:  checkHelp,
		Example: `  bloom check seen.bloom candidates.txt       # probably seen before
  bloom check -v seen.bloom candidates.txt    # definitely new
  bloom check -f 7 seen.bloom a.log           # lines of a log, by field 7
  bloom check -q seen.bloom -k "$url" && echo "probably seen"`,
		Args: cobra.MinimumNArgs(1),
	}, "secret-file null field delimiter key column quiet")}
	o.cmd.Flags().BoolVarP(&o.invert, "invert", "v", false, "select the keys that are definitely not in")
	o.cmd.Flags().BoolVarP(&o.counts, "count", "c", false, "print the number of selected lines")
	return o.runs(o.run)
}

func (o *check) run(args []string) error {
	path, files := args[0], args[1:]
	if path == "-" && o.fromStdin(files) {
		return errors.New(`"-" for the filter and for the keys, want one of them in a file: standard input cannot be both`)
	}
	opened, _, err := o.open(path)
	if err != nil {
		return err
	}
	if columns, ok := opened.(filterfile.Columns); ok {
		return lines.Named(path, columns.Choose())
	}
	print := o.print(!o.invert)
	if o.quiet || o.counts {
		print = nil
	}
	in, selected := o.input(files), 0
	err = in.Each(func(c *lines.Chunk) (int, error) {
		keys, bad := c.Keys, error(nil)
		if column, ok := opened.(filterfile.Column); ok {
			keys, bad = column.Encode(keys) // those before the first bad one
		}
		yes := opened.(filterfile.Filter).ContainsMany(keys, c.Yes[:len(keys)])
		if o.invert {
			yes = len(keys) - yes
		}
		if selected += yes; o.quiet && yes > 0 {
			return len(c.Keys), errEnough // also before a bad key
		}
		return len(keys), bad
	}, print)
	switch {
	case err == errEnough:
		return nil
	case err != nil:
		return err
	case o.counts && !o.quiet:
		if _, err := fmt.Fprintln(o.stdout, selected); err != nil {
			return err
		}
	}
	if selected == 0 {
		return errNotFound
	}
	return nil
}
