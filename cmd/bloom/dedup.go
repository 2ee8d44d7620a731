package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

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

With --filter the keys are remembered in a file from one run to the next. It is made, with
-n and -p, if it does not exist. If it does, -n, -p and -s may be left out or must be those
that it was made with. The file is written when all keys are out: if dedup is stopped or
stops before that, the file stays as it was, and the next run prints the same keys again. It
must be a file, not - for standard input or output. A second dedup or add to the same file
waits for the first one.`

func newDedup(e *env) *cobra.Command {
	pl := plan{n: 10_000_000}
	var key secret
	in := input{env: e}
	var path string
	overfull := choice{allowed: []string{"fail", "warn"}, value: "fail"}
	cmd := &cobra.Command{
		Use:   "dedup [INPUT ...]",
		Short: "print each distinct key once, in order",
		Long:  dedupHelp,
		Example: `  cat *.log | bloom dedup
  bloom dedup --filter seen.bloom -n 1e8 today.txt > new-today.txt`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if err := wantFile(path); err != nil {
				return err
			}
			if path == "" {
				f, err := pl.empty(&key)
				if err != nil {
					return err
				}
				return dedup(e, &in, f, inputs, overfull.value == "warn")
			}
			release, err := lock(e, path)
			if err != nil {
				return err
			}
			defer release()
			kept := native
			var f *bloom.BloomFilter
			if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
				f, err = pl.empty(&key)
			} else {
				if f, kept, err = load(e, path, &key); err == nil {
					err = pl.agree(cmd, path, f)
				}
			}
			if err != nil {
				return err
			}
			if err := checkWritable(path); err != nil {
				return err
			}
			if err := dedup(e, &in, f, inputs, overfull.value == "warn"); err != nil {
				return err
			}
			return save(e, path, f, kept)
		},
	}
	pl.flags(cmd, 1e-6)
	key.flags(cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&path, "filter", "", "`file` that remembers the keys from one run to the next")
	cmd.Flags().Var(&overfull, "overfull", "what to do at more than -n distinct keys: fail, or warn in the end")
	complete(cmd, "overfull", overfull.allowed...)
	return cmd
}

// errOverfull is that there are more keys than the filter was made for.
var errOverfull = errors.New("overfull")

// dedup prints the keys that are new to the filter, and adds them.
func dedup(e *env, in *input, f *bloom.BloomFilter, files []string, goOn bool) error {
	out := bufio.NewWriterSize(e.stdout, bufferSize)
	shown := newProgress(e, "distinct", files, true)
	promised := promiseOf(f)
	var added []bool
	err := in.each(files, shown, func(keys [][]byte) error {
		for len(keys) > 0 {
			now := keys
			if left := promised.left(); left == 0 && !goOn {
				// What is in already needs no promise.
				added = resize(added, len(keys))
				f.ContainsMany(keys, added)
				if i := slices.Index(added, false); i >= 0 {
					shown.count(i, 0)
					if err := out.Flush(); err != nil {
						return err
					}
					return errOverfull
				}
				shown.count(len(keys), 0)
				break
			} else if !goOn && left < uint64(len(keys)) {
				now = keys[:left]
			}
			added = resize(added, len(now))
			count := f.AddMany(now, added)
			promised.added += uint64(count)
			shown.count(len(now), count)
			for i, key := range now {
				if added[i] {
					out.Write(key)
					out.WriteByte(in.delim())
				}
			}
			keys = keys[len(now):]
		}
		return out.Flush()
	})
	shown.stop()
	if err == errOverfull {
		p := f.Params()
		return fmt.Errorf("%w: key %s is a new one, and the filter was made for %s at a rate of %v; of the keys before it %s may be missing; want a larger -n, or --overfull=warn",
			errOverfull, grouped(shown.keys.Load()+1), grouped(p.N), p.P, showMissing(promised.missing(f.EstimatedCount())))
	}
	if err != nil {
		return err
	}
	if promised.broken() {
		warn(e, f)
		fmt.Fprintf(e.stderr, "bloom: warning: of the distinct keys %s may be missing\n", showMissing(promised.missing(f.EstimatedCount())))
	}
	return nil
}
