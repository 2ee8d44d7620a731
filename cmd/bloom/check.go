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

For a Parquet file, --column names a column that bloom info lists. A key is in
if the filter of any row group has it; --row-groups tells which. NAME:ROWGROUP
asks one filter. Keys are values in text; a value that the column's type cannot
hold is an error, and nothing is printed of its line or of later ones.`

// errEnough ends the reading for check -q, because further keys cannot change the result.
var errEnough = errors.New("enough")

// A check has the flags of the command bloom check.
type check struct {
	*command
	invert, counts, rowGroups bool
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
		Args: arguments(1, -1),
	}, "secret-file null field delimiter key column quiet")}
	o.cmd.Flags().BoolVarP(&o.invert, "invert", "v", false, "select the keys that are definitely not in")
	o.cmd.Flags().BoolVar(&o.rowGroups, "row-groups", false, "print a Parquet file's row groups and a tab before each line")
	o.cmd.Flags().BoolVarP(&o.counts, "count", "c", false, "print the number of selected lines")
	return o.runs(o.run)
}

// A keySet is a filter, or a Parquet column with its filters.
type keySet interface {
	ContainsMany(keys [][]byte, found []bool) int
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
	filter, _ := opened.(keySet)
	columns, isParquet := opened.(filterfile.Columns)
	var column filterfile.Column
	if isParquet {
		if column, err = columns.Whole(); err != nil {
			return lines.Named(path, err)
		}
		filter = column
	}
	print := o.print(!o.invert)
	switch {
	case o.rowGroups && (!isParquet || o.invert):
		return errors.New("--row-groups for another file or with -v, want it for the lines that a Parquet file may have")
	case o.quiet || o.counts:
		print = nil
	case o.rowGroups:
		print = o.printRowGroups(column)
	}
	in, selected := o.input(files), 0
	in.Keyless = o.invert // lines without a key are not selected
	err = o.each(in, func(c *lines.Chunk) (int, error) {
		keys, bad := c.Keys, error(nil)
		if isParquet {
			keys, bad = column.Encode(keys) // only the keys before the first bad value
		}
		yes := filter.ContainsMany(keys, c.Yes[:len(keys)])
		if o.invert {
			yes = len(keys) - yes
		}
		if selected += yes; o.quiet && yes > 0 {
			return len(c.Keys), errEnough // even if a bad key follows
		}
		return len(keys), bad
	}, print)
	switch {
	case errors.Is(err, errEnough):
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

// printRowGroups returns a function that prints the lines whose values are probably in the column. The numbers of the
// row groups that may have the value, and a tab, stand before each line.
func (o *check) printRowGroups(column filterfile.Column) func(c *lines.Chunk) error {
	return func(c *lines.Chunk) error {
		var text []byte
		for i, line := range c.Lines {
			if c.Yes[i] {
				text = append(fmt.Appendf(text, "%s\t%s", column.RowGroups(c.Keys[i]), line), o.end())
			}
		}
		_, err := o.stdout.Write(text)
		return err
	}
}
