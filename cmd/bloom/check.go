package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

const checkHelp = `Prints the lines whose keys are probably in the filter, in order, or with -v
the lines whose keys are definitely not in.

The exit status is grep's: 0 if a line was selected, 1 if none was, 2 after an
error. As with grep, a file that cannot be read is reported, and the others are
searched.

For a Parquet file, --column names one of the filters that bloom info lists.
Keys are numbers in digits for a column of numbers, and UUIDs or text of the
right length for a column of fixed-length bytes.`

func newCheck(e *env) *cobra.Command {
	var key secret
	in := input{env: e, goOn: true}
	var invert, quiet, number bool
	var column string
	cmd := &cobra.Command{
		Use:   "check FILE [INPUT ... | -k KEY ...]",
		Short: "print the lines that are probably in a filter, or the others",
		Long:  checkHelp,
		Example: `  bloom check seen.bloom candidates.txt       # probably seen before
  bloom check -v seen.bloom candidates.txt    # definitely new
  bloom check -f 7 seen.bloom a.log           # lines of a log, by field 7
  bloom check -q seen.bloom -k "$url" && echo "probably seen"`,
		Args: wantArgs(1, 0, "the FILE of a filter"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, files := args[0], args[1:]
			if err := in.check(files); err != nil {
				return err
			}
			if path == "-" && in.fromStdin(files) {
				return errors.New(`"-" for the filter and for the keys, want one of them in a file: standard input cannot be both`)
			}
			f, encode, err := openToQuery(e, path, &key, column)
			if err != nil {
				return err
			}
			out := bufio.NewWriterSize(e.stdout, bufferSize)
			shown := newProgress(e, "selected", files, !quiet && !number)
			var keys [][]byte
			var found []bool
			err = in.each(files, shown, func(lines [][]byte) error {
				keys = in.keysOf(keys[:0], lines)
				if encode != nil {
					for i, key := range keys {
						if keys[i], err = encode(key); err != nil {
							return err
						}
					}
				}
				found = resize(found, len(keys))
				yes := f.ContainsMany(keys, found)
				if invert {
					yes = len(keys) - yes
				}
				shown.count(len(keys), yes)
				if yes == 0 || number && !quiet {
					return nil
				}
				if quiet {
					return errEnough
				}
				for i, line := range lines {
					if found[i] != invert {
						out.Write(line)
						out.WriteByte(in.end())
					}
				}
				return out.Flush()
			})
			shown.stop()
			if err != nil && !errors.Is(err, errEnough) && !errors.Is(err, errSaid) {
				return err
			}
			if number && !quiet {
				if _, err := fmt.Fprintln(e.stdout, shown.yes.Load()); err != nil {
					return err
				}
			}
			switch {
			case errors.Is(err, errSaid):
				return err
			case shown.yes.Load() == 0:
				return errNotFound
			}
			return nil
		},
	}
	key.flags(cmd)
	in.flags(cmd)
	in.keyFlag(cmd)
	columnFlag(cmd, &column)
	cmd.Flags().BoolVarP(&invert, "invert", "v", false, "select the keys that are definitely not in")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing, stop at the first selected key")
	cmd.Flags().BoolVarP(&number, "count", "c", false, "print the number of selected lines")
	return cmd
}

// errEnough ends the reading: the rest cannot change the answer.
var errEnough = errors.New("enough")

// resize returns a slice of n answers, in the same memory if possible.
func resize(answers []bool, n int) []bool {
	if cap(answers) < n {
		return make([]bool, n)
	}
	return answers[:n]
}
