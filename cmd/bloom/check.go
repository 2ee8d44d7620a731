package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

const checkHelp = `Prints the keys that are probably in the filter, each on a line, in the order in which
they come. With -v it prints the others, those that are definitely not in.

The exit status is grep's: 0 if at least one key was selected, 1 if none was, 2 if
something went wrong. As with grep, an INPUT that cannot be read is reported and passed
over: the others are still searched, the count of -c is printed, and the status is 2 in the
end, unless -q has found a key.

FILE may be - for standard input if the keys come from files or -k.

` + columnHelp + `

` + typeHelp

func newCheck(e *env) *cobra.Command {
	var key secret
	in := input{env: e, goOn: true}
	var invert, quiet, number bool
	var column, typ string
	cmd := &cobra.Command{
		Use:   "check FILE [INPUT ...]",
		Short: "print the keys that are probably in a filter, or with -v those that are not",
		Long:  checkHelp,
		Example: `  bloom check seen.bloom candidates.txt       # probably seen before
  bloom check -v seen.bloom candidates.txt    # definitely new
  bloom check -q seen.bloom -k "$url" && echo "probably seen"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && in.fromStdin(args[1:]) {
				return fmt.Errorf("\"-\" for the filter and for the keys, want one of them in a file: standard input cannot be both")
			}
			f, t, err := openToAsk(e, args[0], &key, column, typ)
			if err != nil {
				return err
			}
			values := encoder{valueType: t}
			out := bufio.NewWriterSize(e.stdout, bufferSize)
			shown := newProgress(e, "selected", args[1:], !quiet && !number)
			var found []bool
			err = in.each(args[1:], shown, func(lines [][]byte) error {
				keys, err := values.encode(lines)
				if err != nil {
					return err
				}
				found = resize(found, len(keys))
				yes := f.ContainsMany(keys, found)
				if invert {
					yes = len(keys) - yes
				}
				shown.count(len(keys), yes)
				switch {
				case yes == 0:
					return nil
				case quiet:
					return errEnough
				case number:
					return nil
				}
				for i, line := range lines {
					if found[i] != invert {
						out.Write(line)
						out.WriteByte(in.delim())
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
	typeFlag(cmd, &typ)
	cmd.Flags().BoolVarP(&invert, "invert", "v", false, "select the keys that are definitely not in")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing and stop at the first selected key: only the exit status")
	cmd.Flags().BoolVarP(&number, "count", "c", false, "print how many keys were selected, not which")
	return cmd
}

// errEnough ends the reading where what comes next cannot change the answer.
var errEnough = errors.New("enough")

// resize returns a slice of n answers, in the same memory if it suffices.
func resize(answers []bool, n int) []bool {
	if cap(answers) < n {
		return make([]bool, n)
	}
	return answers[:n]
}
