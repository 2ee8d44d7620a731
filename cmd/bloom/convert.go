package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const convertHelp = `Writes a filter in another format. It gives the same answers: a format with
other positions or another hash is refused. For another program, build a filter
with bloom build --format. What the new format cannot hold is printed on
standard error.

For a Parquet file, --column names one of the filters that bloom info lists.`

func newConvert(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:     "convert --format FORMAT -o NEW-FILE FILE",
		Short:   "write a filter in another format",
		Long:    convertHelp,
		Example: "  bloom convert --format text -o seen.txt seen.bloom\n  bloom convert --format bloom -o - - < seen.txt > back.bloom",
		Args:    wantArgs(1, 1, "the FILE of a filter"),
	}, "key-file format! column output! force", (*options).convert, func(o *options) { o.format = "" })
}

func (o *options) convert(files []string) error {
	to, err := formatNamed(o.format)
	if err != nil {
		return err
	}
	release, err := o.claim(to)
	if err != nil {
		return err
	}
	defer release()
	f, from, err := o.open(files[0])
	if err != nil {
		return err
	}
	if err := o.save(o.output, f, to); err != nil {
		return err
	}
	o.sayLost(from, to)
	return nil
}

// sayLost prints what the old file says and the new one does not.
func (o *options) sayLost(from, to *format) {
	if from.has != "" && from != to {
		fmt.Fprintf(o.stderr, "bloom: not in the %s file: %s\n", to.name, from.has)
	}
	if from.lacks == "" && to.lacks != "" {
		fmt.Fprintf(o.stderr, "bloom: not in the %s file: %s\n", to.name, to.lacks)
	}
}

const unionHelp = `Writes one filter with the keys of all. The filters must have the same -n, -p,
strategy, hash and secret key. With more than -n keys together, the rate is
above -p. The new file has the format of the first, or this program's own if
that is only read.`

func newUnion(e *env) *cobra.Command {
	return command(e, &cobra.Command{
		Use:     "union -o FILE FILE ...",
		Short:   "unite filters into one",
		Long:    unionHelp,
		Example: "  bloom union -o week.bloom monday.bloom tuesday.bloom wednesday.bloom",
		Args:    wantArgs(1, manyArgs, "the FILEs of filters"),
	}, "key-file output! force", (*options).union)
}

func (o *options) union(files []string) error {
	release, err := o.claim(native)
	if err != nil {
		return err
	}
	defer release()
	all, from, err := o.load(files[0])
	if err != nil {
		return err
	}
	for _, name := range files[1:] {
		f, _, err := o.load(name)
		if err != nil {
			return err
		}
		if err := all.Union(f); err != nil {
			return fmt.Errorf("%s and %s: %w", files[0], name, err)
		}
	}
	o.warn(all.Stats())
	to := from
	if to.write == nil || to.name == redisbloom { // a plain filter has no growth
		to = native
	}
	if err := o.save(o.output, all, to); err != nil {
		return err
	}
	o.sayLost(from, to)
	return nil
}
