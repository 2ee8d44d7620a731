package main

import (
	"github.com/spf13/cobra"
)

const unionHelp = `Writes one filter with the keys of all. The filters must have the same -n, -p,
strategy, hash and secret key. With more than -n keys together, the rate is
above -p. The new file has the format of the first, or this program's own if
that is only read.`

func newUnion(e *env) *cobra.Command {
	var key secret
	var out output
	cmd := &cobra.Command{
		Use:     "union -o FILE FILE ...",
		Short:   "unite filters into one",
		Long:    unionHelp,
		Example: "  bloom union -o week.bloom monday.bloom tuesday.bloom wednesday.bloom",
		Args:    wantArgs(1, 0, "the FILEs of filters"),
		RunE: func(cmd *cobra.Command, files []string) error {
			release, err := out.claim(e, native)
			if err != nil {
				return err
			}
			defer release()
			if err := wantOnce(files); err != nil {
				return err
			}
			all, from, err := load(e, files[0], &key)
			if err != nil {
				return err
			}
			for _, name := range files[1:] {
				f, _, err := load(e, name, &key)
				if err != nil {
					return err
				}
				if err := all.Union(f); err != nil {
					return errorIn{shown(files[0]) + " and " + shown(name), err}
				}
			}
			warn(e, all.Stats())
			to := from
			if to.write == nil || to.name == redisbloom { // a plain filter has no growth
				to = native
			}
			if err := save(e, out.path, all, to); err != nil {
				return err
			}
			sayLost(e, all.Stats(), from, to)
			return nil
		},
	}
	key.flags(cmd)
	out.flags(cmd)
	needs(cmd, "output")
	return cmd
}
