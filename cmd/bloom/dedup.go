package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const dedupHelp = `Prints each distinct key once, in the order in which keys first come: sort -u without
the sort, in a memory that does not grow. A key is out before dedup waits for more input,
so it works behind tail -f.

The price is that a new key is taken for one seen before, and dropped, at a rate of at
most -p as long as there are at most -n distinct keys. At one more, dedup stops with
status 3 and says how many keys may be missing from what it has printed. With
--overfull=warn it goes on, drops more and more, and says so in the end.

With --verify nothing is missing: the inputs, which must be files, are read a second time,
and the keys that were dropped are printed last, however many there are. That takes memory
for each distinct key that comes more than once.

All cores are used, with the output of one. -s blocked is the fastest, -s double-hashing
needs a quarter less memory.

With --filter the keys are remembered in a file from one run to the next. It is made, with
-n and -p, if it does not exist. If it does, -n, -p, -s and --hash may be left out or must be
those that it was made with. The file is written when all keys are out: if dedup is stopped or
stops before that, the file stays as it was, and the next run prints the same keys again. It
must be a file, not - for standard input or output. A second dedup or add to the same file
waits for the first one.`

func newDedup(e *env) *cobra.Command {
	pl := plan{n: 10_000_000}
	var key secret
	in := input{env: e}
	var path string
	var verify bool
	overfull := choice{allowed: []string{"fail", "warn"}, value: "fail"}
	cmd := &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct key once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup --filter known.bloom -n 1e6 today.txt > new-today.txt
  bloom dedup --verify -n 1e6 urls.txt.gz > exact.txt`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			err := wantFile(path)
			if err != nil {
				return err
			}
			d := &deduper{env: e, in: &in, goOn: overfull.value == "warn" || verify}
			if verify {
				if err := checkVerify(&in, inputs); err != nil {
					return err
				}
				d.suspects = newSuspects()
			}
			if path == "" {
				if d.filter, err = pl.empty(&key); err != nil {
					return err
				}
				return d.run(inputs)
			}
			release, err := lock(e, path)
			if err != nil {
				return err
			}
			defer release()
			kept := native
			if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
				d.filter, err = pl.empty(&key)
			} else if d.filter, kept, err = load(e, path, &key); err == nil {
				err = pl.agree(cmd, path, d.filter)
			}
			if err != nil {
				return err
			}
			if kept.write == nil || kept.name == redisbloom { // a plain filter does not say how that grows
				return errNotWritten(path, kept)
			}
			if err := checkWritable(path); err != nil {
				return err
			}
			if err := d.run(inputs); err != nil {
				return err
			}
			return save(e, path, d.filter, kept)
		},
	}
	pl.flags(cmd, 1e-6, bloom.Blocked)
	pl.hashFlag(cmd)
	key.flags(cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&path, "filter", "", "`file` that remembers the keys from one run to the next")
	cmd.Flags().Var(&overfull, "overfull", "what to do at more than -n distinct keys: fail, or warn in the end")
	complete(cmd, "overfull", overfull.allowed...)
	cmd.Flags().BoolVar(&verify, "verify", false, "read the inputs a second time, and print the keys that were dropped")
	cmd.MarkFlagsMutuallyExclusive("verify", "filter")
	return cmd
}
