package main

import (
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/spf13/cobra"
)

const addHelp = `Adds keys to the filter in a file and says how many were new. The file is
replaced when all keys are in. Until then it stays as it was. A second add to
the same file waits for the first, which holds a lock on FILE.lock.`

func newAdd(e *env) *cobra.Command {
	o := newCommand(e, &cobra.Command{
		Use:     "add FILE [INPUT ... | -k KEY ...]",
		Short:   "add keys to the filter in a file",
		Long:    addHelp,
		Example: "  bloom add seen.bloom today.txt\n  bloom add seen.bloom -k https://go.dev/",
		Args:    arguments(1, -1),
	}, "secret-file null field delimiter key quiet")
	return o.runs(func(args []string) error {
		path, files := args[0], args[1:]
		release, err := lock(e, path, o.quiet)
		if err != nil {
			return err
		}
		defer release()
		f, from, err := o.openToWrite(path)
		if err == nil {
			err = trySave(path)
		}
		if err == nil {
			err = o.fill(f, files)
		}
		if err != nil {
			return err
		}
		return save(e, path, f, from)
	})
}

// fill adds the keys of the input to f and prints a summary.
func (o *command) fill(f filterfile.Filter, files []string) error {
	read, added := 0, 0
	err := o.each(o.input(files), func(c *lines.Chunk) (int, error) {
		n, done, err := addTo(f, c.Keys, c.Yes)
		read, added = read+done, added+n
		return done, err
	}, nil)
	if err != nil {
		return err
	}
	s := f.Stats()
	if !o.quiet {
		fmt.Fprintf(o.stderr, "%s read, %s definitely new; the filter now holds %s\n",
			counted(read, "key"), grouped(added), holds(s.EstimatedCount))
	}
	warn(o.env, s)
	return nil
}

// addTo adds keys to f and sets added[i] if keys[i] is new. count is the number of new keys. done is the number of keys
// before the first one that found no room. Only a growing filter can run out of room.
func addTo(f filterfile.Filter, keys [][]byte, added []bool) (count, done int, err error) {
	switch f := f.(type) {
	case interface{ AddMany([][]byte, []bool) int }:
		return f.AddMany(keys, added), len(keys), nil
	case interface {
		AddMany([][]byte, []bool) (int, error)
		Contains([]byte) bool
	}:
		if count, err = f.AddMany(keys, added); err == nil {
			return count, len(keys), nil
		}
		return count, slices.IndexFunc(keys, func(key []byte) bool { return !f.Contains(key) }), err
	}
	return count, len(keys), nil
}
