// Dedup prints each distinct line of its input once, in the order in which the
// lines were first seen: `sort -u` without the sort, for input that never ends or
// does not fit in memory.
//
//	dedup [flags] [file ...]
//
// It reads the files in order, or standard input if there are none; "-" is
// standard input too. A line is out before dedup waits for more input, so that
// it works behind `tail -f`. A last line without a newline gets one.
//
// It remembers the lines in a Bloom filter: 36 MB for the ten million of the
// default, however long they are, plus the longest line that does not fit in a
// buffer of 256 KiB. The price is that a new line is taken for one seen before,
// and dropped, at a rate of at most -p as long as there are at most -n distinct
// lines. If there were more, dedup says on standard error what that has cost.
//
// While dedup works it shows how far it has come, if standard error is a terminal
// and standard output is not. Add 2>/dev/null if a program further down the pipe
// writes to the same terminal.
//
// The exit status is 0, 1 if something could not be read or written, 2 for bad
// flags. Output that nobody reads any more, as with `| head`, is no error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed3447c163/bloom"
)

func main() {
	// Without this, the runtime ends the program at a broken pipe on standard
	// output, and a live display stays on the screen.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("dedup", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Uint64("n", 10_000_000, "distinct `lines` planned for")
	p := flags.Float64("p", 1e-6, "highest `rate` at which new lines may be dropped")
	zero := flags.Bool("z", false, "lines end in NUL, not newline")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: dedup [flags] [file ...]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2 // Parse has said why
	}

	filter, err := bloom.New(*n, *p)
	if err != nil {
		fmt.Fprintf(stderr, "dedup: %v\n", err)
		return 2
	}
	files := flags.Args()
	if len(files) == 0 {
		files = []string{"-"}
	}

	display := &progress{out: stderr}
	if isTerminal(stderr) && !isTerminal(stdout) {
		display.start(totalSize(files, stdin))
	}
	d := newDeduper(filter, stdout, display)
	if *zero {
		d.delim = 0
	}
	status, err := dedupFiles(d, files, stdin, display)
	display.stop()
	switch {
	case errors.Is(err, syscall.EPIPE):
		return status
	case err != nil:
		fmt.Fprintf(stderr, "dedup: %v\n", err)
		return 1
	}
	if note := d.note(); note != "" {
		fmt.Fprintf(stderr, "dedup: %s\n", note)
	}
	return status
}

// dedupFiles reads the files one after the other. As with cat, a file that cannot
// be read does not stop those after it: it gets a message and makes the exit
// status 1. Output that cannot be written does stop it, and is the error.
func dedupFiles(d *deduper, files []string, stdin io.Reader, messages io.Writer) (status int, err error) {
	for _, name := range files {
		err := dedupFile(d, name, stdin)
		if errors.As(err, new(writeError)) {
			return status, err
		}
		if err != nil {
			fmt.Fprintf(messages, "dedup: %v\n", err)
			status = 1
		}
	}
	return status, nil
}

func dedupFile(d *deduper, name string, stdin io.Reader) error {
	if name == "-" {
		return d.copy(stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() // it was only read: closing cannot lose anything
	return d.copy(file)
}
