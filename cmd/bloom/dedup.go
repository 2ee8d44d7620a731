package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed3447c163/bloom"
	"github.com/spf13/cobra"
)

const dedupHelp = `Prints each distinct key once, in the order in which keys first come: sort -u without
the sort, in a memory that does not grow. A key is out before dedup waits for more input,
so it works behind tail -f.

The price is that a new key is taken for one seen before, and dropped, at a rate of at
most -p as long as there are at most -n distinct keys.

With --filter the keys are remembered in a file from one run to the next; it is made, with
-n and -p, if it does not exist. The file is written when all keys are out: if dedup is
stopped before that, the next run prints the same keys again, and none is lost. It must be
a file, not - for standard input or output.`

func newDedup(e *env) *cobra.Command {
	pl := plan{n: 10_000_000}
	var key secret
	in := input{env: e}
	var path string
	cmd := &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct key once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup --filter seen.bloom -n 1e8 today.txt > new-today.txt`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			opts, err := key.options()
			if err != nil {
				return err
			}
			if err := wantFile(path); err != nil {
				return err
			}
			kept := native
			var f *bloom.BloomFilter
			if _, missing := os.Stat(path); path == "" || errors.Is(missing, fs.ErrNotExist) {
				f, err = pl.filter(native, opts, true)
			} else {
				for _, flag := range []string{"number", "rate", "strategy"} {
					if cmd.Flags().Changed(flag) {
						return fmt.Errorf("%s exists and has its own parameters, want no --%s", path, flag)
					}
				}
				f, kept, err = load(e, path, opts)
			}
			if err != nil {
				return err
			}
			if path != "" {
				if err := checkWritable(path); err != nil {
					return err
				}
			}
			if err := dedup(e, &in, f, inputs); err != nil {
				return err
			}
			if path != "" {
				return save(e, path, f, kept)
			}
			return nil
		},
	}
	pl.flags(cmd, 1e-6)
	key.flags(cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&path, "filter", "", "`file` that remembers the keys from one run to the next")
	return cmd
}

// dedup prints the keys that are new to the filter, and adds them.
func dedup(e *env, in *input, f *bloom.BloomFilter, files []string) error {
	out := bufio.NewWriterSize(e.stdout, bufferSize)
	shown := newProgress(e, "distinct", files, true)
	var added []bool
	err := in.each(files, shown, func(keys [][]byte) error {
		added = resize(added, len(keys))
		shown.count(len(keys), f.AddMany(keys, added))
		for i, key := range keys {
			if added[i] {
				out.Write(key)
				out.WriteByte(in.delim())
			}
		}
		return out.Flush()
	})
	shown.stop()
	if err != nil {
		return err
	}
	warn(e, f)
	return nil
}
