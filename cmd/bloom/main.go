// Bloom makes, fills, queries, unites and describes Bloom filters in files. See bloom --help.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, marks := make(chan os.Signal, 8), make(chan struct{}, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // ignored under nohup
			signal.Notify(signals, s)
		}
	}
	signal.Notify(signals, mark)
	go func() {
		s := <-signals
		for ; s == mark; s = <-signals {
			select {
			case marks <- struct{}{}:
			default: // marks is full: a resized terminal sends the signal, too
			}
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM) // a second one kills; but a closing terminal sends SIGHUP twice
		number, _ := s.(syscall.Signal)
		cancel(exit{statusSignal + int(number), s.String()})
	}()
	os.Exit(run(ctx, os.Args[1:], &input{os.Stdin, cancel, marks}, newOutput(ctx, os.Stdout, 1), newOutput(ctx, os.Stderr, 2)))
}

// An input is standard input. A read from a closing terminal may fail before SIGHUP arrives. Then Read ends the context
// as SIGHUP would.
type input struct {
	file   *os.File
	cancel context.CancelCauseFunc
	marks  <-chan struct{} // has a value if the signal mark has arrived
}

func (in *input) Stat() (os.FileInfo, error) { return in.file.Stat() }

func (in *input) Read(p []byte) (n int, err error) {
	n, err = in.file.Read(p)
	if errors.Is(err, syscall.EIO) {
		if info, unknown := in.file.Stat(); unknown == nil && info.Mode()&os.ModeCharDevice != 0 {
			in.cancel(exit{statusSignal + int(syscall.SIGHUP), syscall.SIGHUP.String()})
		}
	}
	return n, err
}

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRoot(&env{ctx, stdin, stdout, stderr})
	var help bytes.Buffer // cobra ignores write errors, so run writes the help
	cmd.SetArgs(args)
	cmd.SetOut(&help)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	of, words, unknown := cmd.Find(args)
	word := slices.IndexFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") })
	if word >= 0 && (unknown != nil || err == nil && !of.Runnable()) {
		err = unknownCommand(of, words[word], false)
	}
	if err == nil {
		_, err = help.WriteTo(stdout)
	}
	if err != nil && err.Error() != "" {
		io.WriteString(stderr, message(err))
	}
	return statusOf(err)
}
