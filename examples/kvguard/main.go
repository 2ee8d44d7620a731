// Kvguard puts a Bloom filter in front of a key-value store on disk and measures what
// that saves.
//
//	kvguard [flags]
//
// It fills a bbolt store with -n records, then looks up -lookups keys, most of which are
// absent, twice: in the store alone, and with a filter that is asked first. It compares
// all answers, deletes some records and looks again, and ends with a summary. The store is
// in a temporary folder and removed at the end; -dir makes it elsewhere, for a disk of
// your choice, and keeps it.
//
// The exit status is 0, 1 if something failed or an answer was wrong, 2 for bad flags.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("kvguard", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var c config
	flags.IntVar(&c.records, "n", 200_000, "`records` in the store")
	flags.IntVar(&c.lookups, "lookups", 200_000, "`keys` to look up")
	flags.Float64Var(&c.absent, "absent", 0.9, "`share` of them that are absent, 0 to 1")
	flags.Float64Var(&c.p, "p", 0.01, "highest `rate` at which absent keys may reach the store")
	flags.StringVar(&c.dir, "dir", "", "`folder` for the store (default a temporary one)")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	switch {
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "kvguard: unexpected argument %q\n", flags.Arg(0))
		return 2
	case c.records < 1 || c.lookups < 1:
		fmt.Fprintf(stderr, "kvguard: -n %d and -lookups %d, want at least 1\n", c.records, c.lookups)
		return 2
	case !(c.absent >= 0 && c.absent <= 1):
		fmt.Fprintf(stderr, "kvguard: -absent %v, want 0 to 1\n", c.absent)
		return 2
	case !(c.p > 0 && c.p < 1):
		fmt.Fprintf(stderr, "kvguard: -p %v, want more than 0 and less than 1\n", c.p)
		return 2
	}
	r, err := measure(c)
	if err == nil {
		r.print(stdout)
		err = r.wrong()
	}
	if err != nil {
		fmt.Fprintln(stderr, "kvguard:", err)
		return 1
	}
	return 0
}
