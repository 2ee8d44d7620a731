package main

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const convertHelp = `Writes a filter in another format. What is in it stays the same: a filter cannot be
converted to one for a program that would look for its bits in other places. So a filter
that Java's Guava shall read must be built for it: bloom build --format guava.

What the new format has no place for is said on standard error.

FILE may be - for standard input. With -o - the new file goes to standard output.

` + columnHelp

func newConvert(e *env) *cobra.Command {
	var key secret
	var out, as, column string
	var force bool
	cmd := &cobra.Command{
		Use:     "convert --format FORMAT -o NEW-FILE FILE",
		Short:   "write a filter in another format",
		Long:    convertHelp + "\n\nFormats:\n" + formatsHelp(),
		Example: "  bloom convert --format text -o seen.txt seen.bloom\n  bloom convert --format bloom -o - - < seen.txt > back.bloom",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			release, err := claim(e, out, force)
			if err != nil {
				return err
			}
			defer release()
			to, err := formatNamed(as)
			if err != nil {
				return err
			}
			f, from, err := open(e, files[0], &key)
			if err != nil {
				return err
			}
			if f, _, err = pickColumn(f, from, files[0], column); err != nil {
				return err
			}
			if err := save(e, out, f, to); err != nil {
				return err
			}
			sayLost(e, f.(interface{ Stats() bloom.Stats }).Stats(), from, to)
			return nil
		},
	}
	key.flags(cmd)
	formatFlag(cmd, &as)
	columnFlag(cmd, &column)
	outputFlags(cmd, &out, &force)
	if err := cmd.MarkFlagRequired("format"); err != nil {
		panic(err)
	}
	return cmd
}

// sayLost says what a file of one format says and one of the other does not.
func sayLost(e *env, s bloom.Stats, from, to *format) {
	if lost := lostBy(s, from, to); len(lost) > 0 {
		fmt.Fprintf(e.stderr, "bloom: not in the %s file: %s\n", to.name, strings.Join(lost, "; "))
	}
}

// lostBy returns what a file of one format says and one of the other does not.
func lostBy(s bloom.Stats, from, to *format) (lost []string) {
	if from.plan && !to.plan && s.N > 0 {
		lost = append(lost, fmt.Sprintf("what it was made for (n = %s keys, p = %v)", grouped(s.N), s.P))
	}
	if from.checksum && !to.checksum {
		lost = append(lost, "a checksum, by which damage is found")
	}
	if from.name == "counting" {
		lost = append(lost, "the counters, without which keys cannot be removed")
	}
	if from.name == redisbloom && to.name != redisbloom {
		lost = append(lost, fmt.Sprintf("the exact number of keys (%s), and how the filter grows", grouped(s.EstimatedCount)))
	}
	if from.columns {
		lost = append(lost, "the column's name, type and row group")
	}
	if from.names && !to.names {
		lost = append(lost, fmt.Sprintf("the names of the hash, %s, and the strategy, which that format implies", s.Hash))
	}
	return lost
}

func formatFlag(cmd *cobra.Command, as *string) {
	cmd.Flags().StringVar(as, "format", native.name, "`format` to write: "+strings.Join(formatNames(), ", "))
	complete(cmd, "format", formatNames()...)
}

func formatNamed(name string) (*format, error) {
	for i := range formats {
		if formats[i].name == name && formats[i].write != nil {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("format %q, want one of %s", name, strings.Join(formatNames(), ", "))
}

func formatsHelp() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-21s %s\n", f.name, f.about)
	}
	return strings.TrimRight(b.String(), "\n")
}
