package main

import (
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/spf13/cobra"
)

const convertHelp = `Writes a filter in another format. It gives the same answers: a format with
other positions or another hash is refused. For another program, build a filter
with bloom build --format. Files of other programs have no checksum and not
the names of strategy and hash, and most have no n and p. Counters, growth and
the name of a Parquet column stay behind.

For a Parquet file, --column names one of the filters that bloom info lists.`

func newConvert(e *env) *cobra.Command {
	o := newCommand(e, &cobra.Command{
		Use:     "convert --format FORMAT -o NEW-FILE FILE",
		Short:   "write a filter in another format",
		Long:    convertHelp,
		Example: "  bloom convert --format text -o seen.txt seen.bloom\n  bloom convert --format bloom -o - - < seen.txt > back.bloom",
		Args:    arguments(1, 1),
	}, "secret-file output force format column")
	o.cmd.MarkFlagRequired("format")
	return o.runs(func(files []string) error {
		release, err := o.claim()
		if err != nil {
			return err
		}
		defer release()
		f, from, err := o.open(files[0])
		if err == nil && from != o.format {
			f, err = filterfile.Plain(f)
			err = lines.Named(files[0], err)
		}
		if err != nil {
			return err
		}
		err = save(e, o.output, f, o.format)
		if errors.Is(err, bloom.ErrNotPortable) {
			return lines.At(files[0], fmt.Errorf("%w: a %s file has its own positions and hash; build it anew with --format %s",
				bloom.ErrNotPortable, o.format.Name, o.format.Name))
		}
		return err
	})
}
