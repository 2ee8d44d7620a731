// Kvguard puts a guard in front of key-value stores on disk and measures what that saves.
//
//	kvguard [flags]
//
// It fills bbolt and pebble with -n records each, and looks up -lookups absent keys and as
// many that are there, in the store alone and through the guard, each time with nothing
// of the store in memory (where the system can drop it from its cache, on Linux). It
// compares all answers, and measures how soon the guard is ready again after a restart.
// The exit status is 0, 1 if something failed or an answer was
// wrong, 2 for bad flags.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/seed3447c163/bloom/guard/stores"
)

type config struct {
	n, lookups, since int
	p                 float64
	dir               string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("kvguard", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var c config
	flags.IntVar(&c.n, "n", 100_000, "`records` in each store")
	flags.IntVar(&c.lookups, "lookups", 10_000, "`keys` to look up, of each kind")
	flags.IntVar(&c.since, "since", 1000, "`records` that come after the guard was saved")
	flags.Float64Var(&c.p, "p", 0.01, "highest `rate` at which absent keys may reach the store")
	flags.StringVar(&c.dir, "dir", "", "`folder` for the stores, which stay there (default a temporary one)")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 || c.n < 1 || c.lookups < 1 || c.since < 0 || !(c.p > 0 && c.p < 1) {
		fmt.Fprintf(stderr, "kvguard: -n %d -lookups %d -since %d -p %v %q, want at least 1, 1 and 0, a rate between 0 and 1, and no more\n", c.n, c.lookups, c.since, c.p, flags.Args())
		return 2
	}
	if err := measureAll(c, stdout); err != nil {
		fmt.Fprintln(stderr, "kvguard:", err)
		return 1
	}
	return 0
}

func measureAll(c config, stdout io.Writer) (err error) {
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "kvguard-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(c.dir)) }()
	}
	for _, name := range slices.Sorted(maps.Keys(stores.Open)) {
		m, err := measure(c, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.print(stdout)
	}
	return nil
}
