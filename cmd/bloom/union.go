package main

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/spf13/cobra"
)

const unionHelp = `Writes one filter with the keys of all. The filters must have equal m and k
(bloom info prints them), and the same strategy, hash and secret. The same -n
and -p always give equal m and k. With more than -n keys together, the rate is
above -p. The new file has this program's own format; bloom convert writes it
in another.`

func newUnion(e *env) *cobra.Command {
	o := newCommand(e, &cobra.Command{
		Use:     "union -o FILE FILE ...",
		Short:   "unite filters into one",
		Long:    unionHelp,
		Example: "  bloom union -o week.bloom monday.bloom tuesday.bloom wednesday.bloom",
		Args:    arguments(1, -1),
	}, "secret-file output force quiet")
	return o.runs(func(files []string) error {
		release, err := o.claim()
		if err != nil {
			return err
		}
		defer release()
		all, err := o.unite(files)
		if err != nil {
			return err
		}
		warn(e, all.Stats())
		return save(e, o.output, all, &filterfile.Native)
	})
}

// unite returns a filter with the keys of all filters in files.
func (o *command) unite(files []string) (*bloom.BloomFilter, error) {
	defer o.show(files)()
	all, err := o.openPlain(files[0])
	if err != nil {
		return nil, err
	}
	for _, name := range files[1:] {
		f, err := o.openPlain(name)
		if err != nil {
			return nil, err
		}
		if err := all.Union(f); err != nil {
			return nil, fmt.Errorf("%w; make both with the same -n, -p, strategy, hash and secret", lines.At(files[0]+" and "+name, err))
		}
	}
	return all, nil
}
