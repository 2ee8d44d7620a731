package main

import (
	"github.com/spf13/cobra"
)

const unionHelp = `Writes the filter that all the keys of the given filters together would have made. They
must have been made with the same -n, -p, strategy and secret key. It holds as many
different keys as they have together: if that is more than -n, its rate is above -p. The
new file has the first one's format; for counting filters, mapped ones and RedisBloom's dumps
it is this program's own.

One FILE may be - for standard input. With -o - the new filter goes to standard output.`

func newUnion(e *env) *cobra.Command {
	var key secret
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:     "union -o FILE FILE ...",
		Short:   "unite filters into one",
		Long:    unionHelp,
		Example: "  bloom union -o week.bloom monday.bloom tuesday.bloom wednesday.bloom",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			release, err := claim(e, out, force)
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
			if to.write == nil || to.name == redisbloom { // a plain filter does not say how that grows
				to = native
			}
			if err := save(e, out, all, to); err != nil {
				return err
			}
			sayLost(e, all.Stats(), from, to)
			return nil
		},
	}
	key.flags(cmd)
	outputFlags(cmd, &out, &force)
	return cmd
}
