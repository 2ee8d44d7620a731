// Bloom makes, fills, queries, unites and describes Bloom filters in files. See bloom --help.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal kills
		cancel(interrupted{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit statuses. The first three are grep's.
const (
	statusFound    = 0
	statusNotFound = 1
	statusError    = 2
	statusOverfull = 3
	statusSignal   = 128 // plus the signal's number
)

var (
	errNotFound = errors.New("not found")    // an answer: it has a status and no message
	errSaid     = errors.New("said already") // its message was printed before
)

// interrupted is the cause of a context that a signal has ended.
type interrupted struct{ os.Signal }

func (i interrupted) Error() string { return i.String() }

func (i interrupted) status() int {
	if number, ok := i.Signal.(syscall.Signal); ok {
		return statusSignal + int(number)
	}
	return statusError
}

// An env holds a command's connections to the outside.
type env struct {
	ctx            context.Context // ends at Ctrl-C and SIGTERM
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRoot(&env{ctx, stdin, stdout, stderr})
	help := &errWriter{w: stdout}
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(help)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err == nil {
		err = help.err
	}
	if err == nil {
		return statusFound
	}
	status := statusError
	switch signal, ok := errors.AsType[interrupted](err); {
	case ok:
		status = signal.status()
	case errors.Is(err, errNotFound):
		return statusNotFound
	case errors.Is(err, errSaid):
		return statusError
	case errors.Is(err, errOverfull):
		status = statusOverfull
	}
	io.WriteString(stderr, message(err))
	return status
}

// An errWriter keeps the first error: cobra ignores the errors of its help texts.
type errWriter struct {
	w   io.Writer
	err error
}

func (h *errWriter) Write(p []byte) (int, error) {
	if h.err == nil {
		_, h.err = h.w.Write(p)
	}
	return len(p), nil
}
