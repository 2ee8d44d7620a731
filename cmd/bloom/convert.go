package main

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const convertHelp = `Writes a filter in another format. It gives the same answers: a format with
other positions or another hash is refused. For another program, build a filter
with bloom build --format. What the new format cannot hold is printed on
standard error.

For a Parquet file, --column names one of the filters that bloom info lists.`

func newConvert(e *env) *cobra.Command {
	var key secret
	var out output
	var as, column string
	cmd := &cobra.Command{
		Use:     "convert --format FORMAT -o NEW-FILE FILE",
		Short:   "write a filter in another format",
		Long:    convertHelp,
		Example: "  bloom convert --format text -o seen.txt seen.bloom\n  bloom convert --format bloom -o - - < seen.txt > back.bloom",
		Args:    wantArgs(1, 1, "the FILE of a filter"),
		RunE: func(cmd *cobra.Command, files []string) error {
			to, err := formatNamed(as)
			if err != nil {
				return err
			}
			release, err := out.claim(e, to)
			if err != nil {
				return err
			}
			defer release()
			f, from, err := open(e, files[0], &key)
			if err != nil {
				return err
			}
			if f, _, err = pickColumn(f, from, files[0], column); err != nil {
				return err
			}
			if err := save(e, out.path, f, to); err != nil {
				return err
			}
			sayLost(e, f.(filter).Stats(), from, to)
			return nil
		},
	}
	key.flags(cmd)
	formatFlag(cmd, &as, "")
	columnFlag(cmd, &column)
	out.flags(cmd)
	needs(cmd, "format", "output")
	return cmd
}

// sayLost prints what the old file says and the new one does not.
func sayLost(e *env, s bloom.Stats, from, to *format) {
	var lost []string
	if from.plan && !to.plan && s.N > 0 {
		lost = append(lost, fmt.Sprintf("its plan (n = %s keys, p = %v)", grouped(s.N), s.P))
	}
	if from.checksum && !to.checksum {
		lost = append(lost, "a checksum, which finds damage")
	}
	if from.name == "counting" {
		lost = append(lost, "the counters, which removing needs")
	}
	if from.name == redisbloom && to.name != redisbloom {
		lost = append(lost, fmt.Sprintf("the exact number of keys (%s), and its growth", grouped(s.EstimatedCount)))
	}
	if from.columns {
		lost = append(lost, "the column's name, type and row group")
	}
	if from.names && !to.names {
		lost = append(lost, fmt.Sprintf("the names of the strategy and the hash (%s), which the format implies", s.Hash))
	}
	if len(lost) > 0 {
		fmt.Fprintf(e.stderr, "bloom: not in the %s file: %s\n", to.name, strings.Join(lost, "; "))
	}
}
